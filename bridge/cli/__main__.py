"""`python -m bridge.cli`: the command line without its script."""

import sys

from bridge.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
