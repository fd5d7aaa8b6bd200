"""The text of normalisation, positions, similarities and preceding tokens, and of what a network has in their place."""

from collections.abc import Callable
from itertools import chain, count

import sympy as sp

from bridge.expressions.cosine_features import FeatureScores
from bridge.expressions.formula_texts import number_text, object_text, within
from bridge.expressions.node_texts import Writing, written
from bridge.expressions.normalisation import Normalised, OfEachToken
from bridge.expressions.positions import RotaryPositions
from bridge.expressions.preceding import PrecedingTokens
from bridge.expressions.similarities import SimilarityScores


@written.register
def _(node: Normalised, writing: Writing) -> tuple[str, str]:
    dim, shift = (within(number_text(each)) for each in (node.dim, node.shift))
    shifted = "" if node.shift == 0 else f" + {shift}"

    def over_root(x: str) -> str:
        above = f"({x})" if " " in x and not node.less_mean else x
        return f"{above}/sqrt(||{x}||_2^2/{dim}{shifted})"

    if not node.less_mean:
        return writing.each(over_root, *node.parts)
    v = writing.argument("x", "v", "u")
    writing.words.append(f"`centred({v})` is `{v}` with the mean of its coordinates taken from each of them")
    return writing.each(lambda x: over_root(f"centred({x})"), *node.parts)


@written.register
def _(node: RotaryPositions, writing: Writing) -> tuple[str, str]:
    place, token, *_ = (each for each in ("k", "j", "i", "h", "s", "t") if each not in writing.taken)
    angle = f"`{place}`-th of its angles"
    if node.base is not None:
        base, dim = (within(number_text(each)) for each in (node.base, node.dim))
        angle = f"angle `{base}^(-2 {place}/{dim}) {token}`"
    v = writing.argument("x", "v", "u")
    writing.words.append(
        f"`rotary({v})` turns the coordinates `2 {place}` and `2 {place} + 1` of token `{token}` of `{v}` by the "
        f"{angle}, `{place}` and `{token}` from 0 on"
    )
    return writing.each(lambda x: f"rotary({x})", *node.parts)


@written.register
def _(node: OfEachToken, writing: Writing) -> tuple[str, str]:
    return writing.both(node.parts[0])


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
        f"{hat} is `chi(u)^T G chi(v) + b`{over}, `chi` are the hat functions of `{cells}` cells on "
        f"`[-{g.radius:g}, {g.radius:g}]`, constant beyond, `G` is the matrix {best} `{object_text(g.name)}` at the "
        f"knots, and `b` is a constant"
    )


def _features(node: FeatureScores, hat: str, over: str) -> str:
    g = node.similarity
    own = f"`{object_text(g.name)}(u, v)`" if g.drawn else _mean_of_cosines(node)
    if g.cells is None:
        return f"{hat} is {own}"
    cells = sp.sstr(g.cells).replace("*", " ")
    return f"{hat} is {own}, each cosine and sine by straight lines between `{cells} + 1` knots"


# Any spacing tau and coefficients a_j will do: the letters of the bound are those of what they leave.
def _mean_of_cosines(node: FeatureScores) -> str:
    g = node.similarity
    residual, *below = g.residual.name.split("_")
    left = (
        f"{residual}_{below[0]}"
        if len(below) == 1
        else f"{residual}_({(' ' if max(map(len, below)) > 1 else '').join(below)})"
    )
    near = "in the place of" if g.drawn else f"at most `{left}` away from"
    return (
        f"the mean of `A xi (cos(w^T u) cos(w^T v) + sin(w^T u) sin(w^T v))` over "
        f"`{sp.sstr(g.count).replace('*', ' ')}` signs `xi` and frequencies `w`, which are drawn once, `u` and `v` "
        f"clipped to `[-{g.radius:g}, {g.radius:g}]`, where `tau` is a positive spacing and `a_0, ..., a_{g.terms}` "
        f"are numbers for which the sum of all `a_j cos(j tau (u - v))` is {near} the factor of one coordinate, the "
        f"coordinates of `w` are independent, `j tau` and `-j tau` with the probability `|a_j|/2` over the sum of all "
        f"`|a_j|`, `xi` is the product of the signs of their `a_j`, and `A` is that of these sums, one for "
        f"each coordinate"
    )


@written.register
def _(node: PrecedingTokens, writing: Writing) -> tuple[str, str]:
    x, name, hat = writing.both(node.x)[0], object_text(node.name), object_text(node.name, hat=True)
    place = _free(writing, (), "stij")
    ends = (sp.S.Zero, node.lags - 1) if node.own else (sp.S.One, node.lags)
    first, last = (f"{x}_{_before(place, end)}" for end in ends)
    listed = first if first == last else f"({first}, ..., {last})"
    stop = sp.sstr(node.x.count).replace(" ", "")
    tokens = f"`{place} = {sp.sstr(node.first)}, ..., {stop}`{'' if node.first == 1 else ', counted from 1 on'}"
    writing.words.append(f"`{name}` has `{listed}` for the tokens {tokens}")
    if node.heads is None:
        return name, name
    lag, distance, head = (_free(writing, (place,), letters) for letters in ("ijk", "tmk", "hkl"))
    writing.notes.append(
        f"`{hat}` has in the place of `{x}_({place}-{lag})`, `{lag} >= 1`, the sum over `{sp.sstr(node.heads)}` heads "
        f"`{head}` of `c_({head},{lag})/(1 - r_{head})` times the average of all earlier tokens with weights "
        f"proportional to `r_{head}^{distance}` for the token `{x}_({place}-{distance})`, with rates `r_{head}` in "
        f"`(0, 1)` that differ and the numbers `c_({head},{lag})` for which the sum over `{head}` of "
        f"`c_({head},{lag}) r_{head}^({distance}-1)` is 1 at `{distance} = {lag}` and 0 at the other "
        f"`{distance} = 1, ..., {sp.sstr(node.heads)}`"
    )
    return name, hat


def _free(writing: Writing, others: tuple[str, ...], letters: str) -> str:
    """The first of these letters that nothing has."""
    free = chain(letters, (f"{letters[0]}{k}" for k in count(1)))
    return next(each for each in free if each not in (*writing.taken, *others))


def _before(place: str, lag: sp.Expr) -> str:
    """The index of the token at the lag, the lag after the place."""
    if lag == 0:
        return place
    terms = sorted(sp.Add.make_args(sp.expand(-lag)), key=lambda term: term.is_number)
    signed = (sp.sstr(term).replace(" ", "") for term in terms)
    return f"({place}{''.join(term if term.startswith('-') else f'+{term}' for term in signed)})"
