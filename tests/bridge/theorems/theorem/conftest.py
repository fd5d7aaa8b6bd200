"""The command, run in this process."""

from tests.bridge.cli.conftest import run

__all__ = ["run"]
