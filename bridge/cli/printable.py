"""Words from files and arguments made safe to print: no character that a terminal would obey, and no endless quote."""

import re

MOST_QUOTED, MOST_SAID = 200, 4000  # characters of what came, and of a whole message
SHOWN = 160  # characters of a quote that is too long
# Everything below a blank but the line feed and the tab, DEL, C1, and what changes the direction of a line or ends it.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
QUOTES = re.compile(rf"'[^'\n]{{{MOST_QUOTED},}}'|\"[^\"\n]{{{MOST_QUOTED},}}\"|[^\s'\"]{{{MOST_QUOTED},}}")


def printable(text: str) -> str:
    """The text with a picture in the place of each control character: U+241B for ESC."""
    return OBEYED.sub(lambda found: _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def printable_json(text: str) -> str:
    """JSON in which such characters are escapes; they can only stand in strings there."""
    return OBEYED.sub(lambda found: rf"\u{ord(found[0]):04x}", text)


def message(text: str) -> str:
    """A message with its long quotes shortened, as is the whole; printable."""
    short = QUOTES.sub(lambda found: _shortened(found[0]), printable(text))
    return short if len(short) <= MOST_SAID else f"{short[:MOST_SAID]}... ({len(short)} characters)"


def _shortened(quote: str) -> str:
    end = quote[-1] if quote[0] in "'\"" else ""
    return f"{quote[:SHOWN]}...{end} ({len(quote)} characters)"
