"""The pages of the site that are made from what the code knows of itself: rules, papers, reference, gallery."""

from pathlib import Path

from docs.pages import gallery, papers, reference, rules


def write_all(folder: Path) -> None:
    """Writes `rules/`, `papers/`, `reference/` and `gallery.md` below the folder, each with an index page."""
    rules.write(folder / "rules")
    papers.write(folder / "papers")
    reference.write(folder / "reference")
    gallery.write(folder)
