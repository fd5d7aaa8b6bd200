"""Plain text as LaTeX's text mode takes it, whatever its characters are; plain ASCII comes out."""

import re
import unicodedata

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "_": r"\_", "^": r"\^{}", "%": r"\%", "&": r"\&",
    "#": r"\#", "~": r"\~{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "×": r"$\times$", "±": r"$\pm$", "·": r"$\cdot$", "∞": r"$\infty$",
    "∈": r"$\in$", "→": r"$\to$", "√": r"$\surd$", "∥": r"$\|$", "°": r"$^{\circ}$", "−": "$-$", "∑": r"$\sum$",
    "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "§": r"\S{}", "¶": r"\P{}", "©": r"\copyright{}", "…": r"\dots{}",
    "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "«": r"$\ll$", "»": r"$\gg$", "\u00a0": "~",
    "¡": "!`", "¿": "?`", "£": r"\pounds{}",
}  # fmt: skip
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u0304": "=", "\u0307": ".",
    "\u0306": "u", "\u030c": "v", "\u030b": "H", "\u0327": "c", "\u0323": "d", "\u030a": "r",
}  # fmt: skip
GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (FINAL )?(\w+)$")
AS_LATIN = {"OMICRON": "o", "LAMDA": "lambda"}
CAPITALS = frozenset(("GAMMA", "DELTA", "THETA", "LAMDA", "XI", "PI", "SIGMA", "UPSILON", "PHI", "PSI", "OMEGA"))
LATIN = {"ALPHA": "A", "BETA": "B", "EPSILON": "E", "ZETA": "Z", "ETA": "H", "IOTA": "I", "KAPPA": "K", "MU": "M",
         "NU": "N", "OMICRON": "O", "RHO": "P", "TAU": "T", "CHI": "X"}  # fmt: skip


def escape(words: str) -> str:
    """Every character that TeX reads as a command, or does not have, as one that it sets; one without any by number."""
    if words.isascii():
        return "".join(SPECIAL.get(each, each) for each in _opened(words) if each.isprintable() or each == "\n")
    return "".join(_character(each) for each in _opened(unicodedata.normalize("NFC", words)))


def _opened(words: str) -> str:
    """With opening quotation marks where a double one opens."""
    return re.sub(r'(^|[\s(\[])"', r"\1``", words) if '"' in words else words


def _character(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if character.isascii():
        return character if character.isprintable() or character == "\n" else ""
    base, *marks = list(unicodedata.normalize("NFD", character))
    if marks and base.isascii() and base.isalpha() and all(mark in ACCENTS for mark in marks):
        for mark in marks:
            base = rf"\{ACCENTS[mark]}{{{base}}}"
        return base
    return _greek(character) or rf"\texttt{{U+{ord(character):04X}}}"


def _greek(character: str) -> str:
    found = GREEK.match(unicodedata.name(character, ""))
    if found is None:
        return ""
    size, _, name = found.groups()
    if size == "CAPITAL":
        if name not in CAPITALS:
            return LATIN.get(name, "")
        return rf"$\{AS_LATIN.get(name, name).capitalize()}$"
    known = AS_LATIN.get(name, name.lower())
    return "o" if known == "o" else rf"$\{known}$"
