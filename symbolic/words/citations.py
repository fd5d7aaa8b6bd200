"""Papers and citations down to the label; a citation is data and prints itself as text, LaTeX or BibTeX."""

import re
from dataclasses import dataclass

from symbolic.words.escaping import escape
from symbolic.words.prose import make_prose, marked, prose_latex
from symbolic.words.shown import brief

# A number in brackets that no "eq." and no other number stands before.
BARE_EQUATION = re.compile(r"(^|[^)], |; |after |before |of )(\((?:[A-Z]\.)?\d+(?:\.\d+)?[a-z]?\))")


@dataclass(frozen=True)
class Paper:
    """One paper. `short` is how running text refers to it, `key` its BibTeX key. Authors are "Last, First", or a group.

    `venue`, `arxiv` (the number alone) and `note` are what the paper itself shows.
    """

    key: str
    short: str
    title: str
    authors: tuple[str, ...]
    year: int
    note: str = ""
    venue: str = ""
    arxiv: str = ""

    __repr__ = brief

    def bibtex(self) -> str:
        fields = {
            "title": "{" + escape(self.title) + "}",
            "author": " and ".join(escape(each) if "," in each else f"{{{escape(each)}}}" for each in self.authors),
            "year": str(self.year),
            "howpublished": escape(self.venue),
            "eprint": self.arxiv,
            "archiveprefix": "arXiv" if self.arxiv else "",
            "note": escape(self.note),
        }
        body = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items() if text)
        return f"@misc{{{self.key},\n{body}\n}}"

    def bibitem(self) -> str:
        """The same for a `thebibliography`."""
        names = [" ".join(reversed(author.split(", ", 1))) for author in self.authors]
        *first, last = map(escape, names)
        authors = f"{', '.join(first)}{',' if len(first) > 1 else ''} and {last}" if first else last
        arxiv = f"arXiv:{self.arxiv}" if self.arxiv else ""
        published = ", ".join(filter(None, [escape(self.venue), arxiv, str(self.year)]))
        parts = (authors, rf"\emph{{{escape(self.title)}}}", published, escape(self.note))
        return rf"\bibitem{{{self.key}}} {'. '.join(part.removesuffix('.') for part in parts if part)}."


@dataclass(frozen=True)
class Citation:
    """A place in a paper: the label of the statement and, where it helps, the equations.

    `paper` is None for what is in no bibliography yet: a draft's own theorem, whose label is printed as it stands.
    """

    paper: Paper | None
    label: str
    equations: str = ""

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "equations", BARE_EQUATION.sub(r"\1eq. \2", marked(self.equations)))
        make_prose(self, "label", "equations")

    def __str__(self) -> str:
        return ", ".join(part for part in (self.paper and self.paper.short, self.label, self.equations) if part)

    def latex(self) -> str:
        words = prose_latex(", ".join(marked(part) for part in (self.label, self.equations) if part))
        if self.paper is None:
            return words
        braced = f"{{{words}}}" if "]" in words else words  # a bracket would end the argument
        return rf"\cite[{braced}]{{{self.paper.key}}}"

    def bibtex(self) -> str:
        """The entry of the paper; empty without one."""
        return "" if self.paper is None else self.paper.bibtex()


WU2024 = Paper(
    "wu2024",
    "Wu et al. 2024",
    "Transformers are Deep Optimizers: Provable In-Context Learning for Deep Model Training",
    ("Wu, Weimin", "Su, Maojiang", "Hu, Jerry Yao-Chieh", "Song, Zhao", "Liu, Han"),
    2024,
    note="Last update: December 5, 2024",
)
LI2025 = Paper(
    "li2025",
    "Li et al. 2025",
    "Transformers Meet In-Context Learning: A Universal Approximation Theory",
    ("Li, Gen", "Jiao, Yuchen", "Huang, Yu", "Wei, Yuting", "Chen, Yuxin"),
    2025,
    note="June 2025, revised in August 2025",
)
WEI2021 = Paper(
    "wei2021",
    "Wei et al. 2021",
    "Statistically Meaningful Approximation: a Case Study on Approximating Turing Machines with Transformers",
    ("Wei, Colin", "Chen, Yining", "Ma, Tengyu"),
    2021,
)
WANG2024 = Paper(
    "wang2024",
    "Wang et al. 2024",
    "How Transformers Implement Induction Heads: Approximation and Optimization Analysis",
    ("Wang, Mingze", "Yu, Ruoxi", "E, Weinan", "Wu, Lei"),
    2024,
)
ALGOFORMER = Paper(
    "algoformer",
    "AlgoFormer",
    "On the Expressive Power of a Variant of the Looped Transformer",
    ("Anonymous authors",),
    2024,
    note="Paper under double-blind review",
)
