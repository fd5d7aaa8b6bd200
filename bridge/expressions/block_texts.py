"""The text of similarities and of preceding tokens, and of what a network has in their place."""

from collections.abc import Callable

import sympy as sp

from bridge.expressions.cosine_features import FeatureScores
from bridge.expressions.node_texts import Writing, object_text, written
from bridge.expressions.preceding import PrecedingTokens
from bridge.expressions.similarities import SimilarityScores


@written.register
def _(node: SimilarityScores, writing: Writing) -> tuple[str, str]:
    return _similarity(node, writing, _hats)


@written.register
def _(node: FeatureScores, writing: Writing) -> tuple[str, str]:
    return _similarity(node, writing, _features)


def _similarity(node: SimilarityScores, writing: Writing, network: Callable[..., str]) -> tuple[str, str]:
    g, name, hat = node.similarity, object_text(node.similarity.name), object_text(node.similarity.name, hat=True)
    over = "" if node.coordinates == 1 else f", {'multiplied' if g.multiplied else 'added up'} over the coordinates"
    formula = "" if g.function is None else sp.sstr(g.function).replace("**", "^").replace("Abs(", "abs(")
    what = f"`{formula.replace('*', ' ')}`" if formula else f"the similarity `{object_text(g.given)}`"
    what = f"{what}{over}, of a query `u` with each key `v`"
    if isinstance(node, FeatureScores) and node.similarity.drawn:
        what = _mean_of_cosines(node)
    writing.words.append(f"`{name}(u, v)` is {what}")
    (query, keys), (near_query, near_keys) = zip(*(writing.both(part) for part in node.parts), strict=True)
    note = network(node, f"`{hat}(u, v)`", over)
    if not note:
        return f"{name}({query}, {keys})", f"{name}({near_query}, {near_keys})"
    writing.notes.append(note)
    return f"{name}({query}, {keys})", f"{hat}({near_query}, {near_keys})"


def _hats(node: SimilarityScores, hat: str, over: str) -> str:
    """What the network has in the place of a similarity; "" for the similarity itself."""
    g = node.similarity
    if g.cells is None:
        return ""
    cells, rank = (None if each is None else sp.sstr(each).replace("*", " ") for each in (g.cells, g.rank))
    best = "that has the values of" if rank is None else f"of rank `{rank}` that is nearest to the values of"
    return (
        f"{hat} is `H(u)^T S H(v) + c`{over}, `H` are the hat functions of `{cells}` cells on "
        f"`[-{g.radius:g}, {g.radius:g}]`, constant beyond, `S` is the matrix {best} `{object_text(g.name)}` at the "
        f"knots, and `c` is a constant"
    )


def _features(node: FeatureScores, hat: str, over: str) -> str:
    g = node.similarity
    own = f"`{object_text(g.name)}(u, v)`" if g.drawn else _mean_of_cosines(node)
    if g.cells is None:
        return f"{hat} is {own}"
    cells = sp.sstr(g.cells).replace("*", " ")
    return f"{hat} is {own}, each cosine and sine by straight lines between `{cells} + 1` knots"


def _mean_of_cosines(node: FeatureScores) -> str:
    g = node.similarity
    return (
        f"the mean of `A s (cos(w^T u) cos(w^T v) + sin(w^T u) sin(w^T v))` over "
        f"`{sp.sstr(g.count).replace('*', ' ')}` signs `s` and frequencies `w`, which are drawn once, `u` and `v` "
        f"clipped to `[-{g.radius:g}, {g.radius:g}]`, where the coordinates of `w` are independent, `c j` or `-c j` "
        f"with a probability proportional to `abs(a_j)`, the sum of `a_j cos(c j (u - v))` over `j <= {g.terms}` is "
        f"near the factor of one coordinate, `s` is the product of the signs of their `a_j`, and `A` is the product "
        f"of the sums of all `abs(a_j)`"
    )


@written.register
def _(node: PrecedingTokens, writing: Writing) -> tuple[str, str]:
    x, name, hat = writing.both(node.x)[0], object_text(node.name), object_text(node.name, hat=True)
    place = next(letter for letter in ("s", "t", "i", "j") if letter not in writing.taken)
    ends = (sp.S.Zero, node.lags - 1) if node.own else (sp.S.One, node.lags)
    first, last = (f"{x}_{_before(place, end)}" for end in ends)
    listed = first if first == last else f"({first}, ..., {last})"
    count = sp.sstr(node.x.count).replace(" ", "")
    writing.words.append(f"`{name}` has `{listed}` for the tokens `{place} = {sp.sstr(node.first)}, ..., {count}`")
    if node.heads is None:
        return name, name
    writing.notes.append(
        f"`{hat}` are the sums that `{sp.sstr(node.heads)}` heads write in its place, which average earlier tokens "
        f"with weights that fall exponentially with the distance"
    )
    return name, hat


def _before(place: str, lag: sp.Expr) -> str:
    """The index of the token at the lag, the lag after the place."""
    if lag == 0:
        return place
    terms = sorted(sp.Add.make_args(sp.expand(-lag)), key=lambda term: term.is_number)
    signed = (sp.sstr(term).replace(" ", "") for term in terms)
    return f"({place}{''.join(term if term.startswith('-') else f'+{term}' for term in signed)})"
