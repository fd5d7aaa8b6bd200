"""The site: `make docs` builds it without a network, and the built pages need none."""

import logging
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from docs.pages import write_all  # noqa: E402

logging.getLogger("matplotlib").setLevel(logging.WARNING)  # which signs it took from another font

project = "boundsmith"
author = "The boundsmith authors"
extensions = ["myst_nb", "mathml"]
exclude_patterns = ["_build", "jupyter_execute", "pages"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_update_mathjax = False
nb_execution_mode = "off"  # the tests run every notebook and every block of code

highlight_language = "none"  # of a block without a language: commands

html_theme = "furo"
html_title = "boundsmith"
html_math_renderer = "mathml"
html_show_search_summary = False  # a page opened from a file system may fetch no other page
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]


def write_generated(app: Sphinx) -> None:
    """The pages that are written from the package, and the notebooks of the examples."""
    generated = HERE / "generated"
    shutil.rmtree(generated, ignore_errors=True)
    (generated / "notebooks").mkdir(parents=True)
    for notebook in sorted((HERE.parent / "examples").glob("*.ipynb")):
        shutil.copy(notebook, generated / "notebooks")
    write_all(generated)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_generated)
