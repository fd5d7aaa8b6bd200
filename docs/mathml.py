"""Mathematics of the site as MathML, which browsers draw without a script and without a network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def _mathml(node: nodes.Element, display: str) -> str:
    try:
        return str(convert(node.astext(), display=display))
    except Exception as error:  # of any class: the converter has none of its own
        LOGGER.warning("no MathML for %s: %s", node.astext(), repr(error), location=node)
        return ""


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Element) -> None:
    translator.body.append(f'<div class="formula" tabindex="0">{_mathml(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
