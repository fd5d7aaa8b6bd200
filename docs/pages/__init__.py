"""The generated pages of the site."""

from pathlib import Path


def write_all(folder: Path) -> None:
    """Write every generated page below the folder."""
    folder.mkdir(exist_ok=True)
