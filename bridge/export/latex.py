"""Words for LaTeX."""

SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\^{}",
        "~": r"\~{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "≤": r"$\le$",
        "≥": r"$\ge$",
    }
)


def escape(words: str) -> str:
    """Words for running text: every character that TeX reads as a command or sets as another one is escaped."""
    return words.translate(SPECIAL)
