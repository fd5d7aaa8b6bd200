"""The errata of all results: the records, the witnesses that run them again, and the pages that list them."""

from bridge.questions.errata.entries import Entry, errata, replayed
from bridge.questions.errata.pages import PAGES, html_page, latex_page, markdown_page

__all__ = ["PAGES", "Entry", "errata", "html_page", "latex_page", "markdown_page", "replayed"]
