"""`python -m bridge.cli`: the command line without its script."""

import sys

from boundsmith import main

if __name__ == "__main__":
    sys.exit(main())
