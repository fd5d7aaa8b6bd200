"""Checks a certificate that has steps, or sin, cos, tan, atan and pi: python check_steps.py FILE.json

It adds these to check_certificate.py, which has to lie beside it and says what "confirmed" means. A step is a leaf of a
tree of boxes. It proves its goal (f, box, where) there, by an identity or from goals that its children prove: f is
defined on the box, and f >= 0 wherever all conditions of `where` are >= 0.
"""

import itertools
import math
import sys
from fractions import Fraction
from functools import reduce

import check_certificate as kernel
from check_certificate import KINKS, ONCE, ONE, UNIT, ZERO, RefusedError, P, add, derivative, enclosed, minus
from check_certificate import multiplied, multiply, nodes, number, plus, polynomial, power, put, raised, read, reduced
from check_certificate import require, require_defined, require_smooth, same, scaled, times, to_power, total, value

# Functions.

def sin(a, turn=0):
    """sin (turn 1: cos): the series at the middle, and at most the radius away from it."""
    middle, radius = (a[0] + a[1]) // 2, (a[1] - a[0]) // 2 + 1
    require(abs(middle) < 32 * ONE, "an argument of sin or cos is too large")
    term, sum_, n = (ONE, ONE) if turn else (middle, middle), (0, 0), 1 - turn
    while n < 64 or max(abs(term[0]), abs(term[1])) > 4:
        sum_, n = add(sum_, term), n + 2
        term = multiply(multiply(term, (-middle, -middle)), (middle, middle))
        term = term[0] // (n * (n - 1)), -(-term[1] // (n * (n - 1)))
    return max(-ONE, sum_[0] - radius - 8), min(ONE, sum_[1] + radius + 8)

def tan(a): return multiply(sin(a), power(sin(a, 1), -1))

def atan(a): return atan_at(a[0])[0], atan_at(a[1])[1]

def atan_at(x):
    """A guess by floats and a step of Newton's method; that x lies between tan of both ends decides."""
    y, distance = int(math.atan(x / ONE) * 2**64) << P - 64, 64
    y += multiply((x - tan((y, y))[0],) * 2, power(sin((y, y), 1), 2))[0]
    while abs(y) + distance < 157 * ONE // 100:  # tan grows up to pi/2
        low, high = y - distance, y + distance
        if tan((low, low))[1] <= x <= tan((high, high))[0]: return low, high
        distance *= 4
    raise RefusedError("an argument of atan is too large")

PI = Fraction("3.14159265358979323846264338327950288")  # its first digits
kernel.CONSTANTS["pi"] = enclosed(PI, PI + Fraction(1, 10**35))
kernel.FUNCTIONS["sin"] = sin, lambda x: ("cos", x)
kernel.FUNCTIONS["cos"] = lambda a: sin(a, 1), lambda x: minus(("sin", x))
kernel.FUNCTIONS["atan"] = atan, lambda x: raised(plus(ONCE, raised(x, 2)), -1)
kernel.FUNCTIONS["tan"] = tan, lambda x: plus(ONCE, raised(("tan", x), 2))
kernel.WRITTEN_OUT["tan"] = lambda x: times(("sin", x), raised(("cos", x), -1))
kernel.SPECIAL |= {"sin": ({}, {}), "atan": ({}, {}), "cos": ({}, {UNIT: 1})}  # at 0

# Goals.

def line(e):
    """The coefficients of an affine function, that of "" the constant; None for any other function."""
    p = reduced(polynomial(e))
    affine = all(len(m) < 2 and all(n == 1 and isinstance(x, str) for x, n in m) for m in p)
    return {"".join(x for x, _ in m): Fraction(c) for m, c in p.items()} if affine else None

def narrowed(f, box, where):
    """The goal with conditions on one letter as ranges, and letters of one value as numbers. None for no region."""
    box, where = dict(box), list(where)
    while all(low <= high for low, high in box.values()):
        fixed = next((x for x, (low, high) in box.items() if low == high), None)
        lines = [line(each) for each in where]
        i = next((i for i, found in enumerate(lines) if found is not None and len(found.keys() - {""}) <= 1), None)
        if fixed is not None:
            new = number(box.pop(fixed)[0])
            f, *where = (put(each, ("Symbol", fixed), new) for each in (f, *where))
        elif i is None: return f, box, where
        else:
            del where[i]
            constant = lines[i].pop("", 0)
            if not lines[i] and constant < 0: return None
            for x, a in lines[i].items():
                low, high = box[x]
                box[x] = (max(low, -constant / a), high) if a > 0 else (low, min(high, -constant / a))
    return None

def step(name, premises):
    """Registers a step by its function, which checks it and lists the goals of its children."""
    def run(node, f, box, where):
        require_defined(box, f)
        goals = premises(node, f, box, where)
        require(len(goals) == len(node["children"]), f"{name}: it has {len(node['children'])} of {len(goals)} children")
        for k, (goal, tree) in enumerate(zip(goals, node["children"])):
            try:
                found = narrowed(*goal)
                require(found or tree == [["empty", 1]], "the region is empty, and the tree has boxes")
                if found: kernel.follow(*found, tree)
            except RefusedError as error: raise RefusedError(f"{name}, child {k}: {error}") from None
    kernel.STEPS[name] = run

# Steps: what has to hold, and the goals of the children.

def factors(node, f, box, where):
    """f = c prod e^k: every odd factor has the sign that its child proves, and all signs together are >= 0."""
    sign, parts, goals = Fraction(node["constant"]), [(read(e), k, s) for e, k, s in node["factors"]], []
    powers = [raised(e, k) for e, k, _ in parts]
    require_defined(box, *powers)
    require(same(box, f, times(number(sign), *powers)), "factors: their product is not f")
    for e, k, s in parts:
        require(isinstance(k, int) and s in ((1, -1) if k % 2 else (0,)), "factors: a sign is wrong")
        if k % 2: sign, goals = sign * s, [*goals, (times(number(s), e), box, where)]
    require(sign >= 0, "factors: the product of the signs is negative")
    return goals

def sum_(node, f, box, where):
    """f is a sum of terms that are >= 0."""
    terms = [read(e) for e in node["terms"]]
    require_defined(box, *terms)
    require(same(box, f, plus(*terms)), "sum: it is not f")
    return [(e, box, where) for e in terms]

def cases(node, f, box, where):
    """Where `at` is >= 0, and where it is <= 0."""
    at = read(node["at"])
    require_defined(box, at)
    return [(f, box, [*where, at]), (f, box, [*where, minus(at)])]

def piece(node, f, box, where):
    """A kink is the choice that is the right one throughout."""
    kink, i = read(node["node"]), node["choice"]
    require(kink[0] in KINKS, "piece: it is of Abs, Max or Min only")
    parts = [kink[1], minus(kink[1])] if kink[0] == "Abs" else kink[1:]
    apart = [plus(parts[i], minus(other)) for j, other in enumerate(parts) if j != i]
    right = [parts[i]] if kink[0] == "Abs" else apart if kink[0] == "Max" else [minus(each) for each in apart]
    for each in nodes(f):
        if each[0] == kink[0] and same(box, each, kink): f = put(f, each, parts[i])
    return [(goal, box, where) for goal in (*right, f)]

def linear(node, f, box, where):
    """f - sum w_k c_k is affine, and >= 0 at the corner where it is least."""
    pairs = [(where[k], Fraction(w)) for k, w in node["multipliers"]]
    require(all(w >= 0 for _, w in pairs), "linear: a multiplier is negative")
    rest = line(plus(f, *(times(number(-w), c) for c, w in pairs)))
    require(rest is not None, "linear: the rest is not affine")
    least = rest.pop("", 0) + sum(min(a * end for end in box[x]) for x, a in rest.items())
    require(least >= 0, "linear: the rest may be negative")
    return []

def monotone(node, f, box, where):
    """f grows (sign 1) or falls in x, so that it is least at the largest lower (the least upper) one of all sides."""
    x, sign, kept = ("Symbol", node["letter"]), node["sign"], [where[k] for k in node["where"]]
    require(sign in (1, -1), "monotone: the sign is neither 1 nor -1")
    require_smooth(box, f)
    (low, high), others = box[x[1]], {y: ends for y, ends in box.items() if y != x[1]}
    inside, sides = [plus(x, number(-low)), plus(number(high), minus(x))], [(number(low if sign > 0 else high), -1)]
    for k, c in enumerate(kept):
        a, b = Fraction(polynomial(c).get(frozenset({(x[1], 1)}), 0)), put(c, x, ZERO)
        require_defined(others, b)
        if x in nodes(c): require_defined(box, c)
        require(same(box, c, plus(times(number(a), x), b)), f"monotone: a condition is not a {x[1]} + b, a rational")
        if a * sign > 0: sides.append((times(number(-1 / a), b), k))
    lowest = [
        (put(f, x, s), others, [put(c, x, s) for c in kept[: max(own, 0)] + kept[own + 1 :] + inside * (own >= 0)])
        for s, own in sides
    ]
    return [(times(number(sign), collected(derivative(f, x))), box, kept), *lowest]

def collected(e):
    """A sum with equal terms added up."""
    found = {}
    for term in itertools.chain(*(part[1:] if part[0] == "Add" else [part] for part in e[1:] if e[0] == "Add")):
        c, m = (value(term[1]), term[2:]) if term[0] == "Mul" and term[1][0] == "Rational" else (1, (term,))
        found[m] = found.get(m, 0) + c
    return plus(*(times(number(c), *m) for m, c in found.items() if c)) if found else e

def squares(node, f, box, where):
    """f = sum w q^2 prod g with w >= 0 and g >= 0."""
    known = {
        "low": lambda x: plus(("Symbol", x), number(-box[x][0])),
        "high": lambda x: plus(number(box[x][1]), minus(("Symbol", x))),
        "where": lambda k: where[k],
    }
    terms = [(Fraction(w), read(q), [known[kind](x) for kind, x in each]) for w, q, each in node["terms"]]
    require(all(w >= 0 for w, _, _ in terms), "squares: a weight is negative")
    require_defined(box, *(q for _, q, _ in terms))
    written = plus(*(times(number(w), raised(q, 2), *each) for w, q, each in terms))
    require(same(box, f, written), "squares: the sum is not f")
    return []

def amgm(node, f, box, where):
    """Weighted means: sum u_j a_j >= prod (u_j/l_j)^l_j |b| where a_j >= 0, sum l_j = 1 and |b| = prod a_j^l_j."""
    rest = dict(reduced(polynomial(f)))

    def monomial(powers):
        require(len(powers) == len(box) and min(powers, default=0) >= 0, "amgm: a monomial has wrong exponents")
        return frozenset((x, n) for x, n in zip(box, powers) if n)

    def positive(m): return all(n % 2 == 0 or (x in box and box[x][0] >= 0) for x, n in m)

    for b, shares in node["groups"]:
        c, mean = Fraction(abs(rest.pop(monomial(b), 0))), {}
        parts = [(monomial(a), Fraction(weight), Fraction(share)) for a, weight, share in shares]
        require(all(positive(m) and w > 0 and u > 0 for m, w, u in parts), "amgm: a term may be negative")
        n = math.lcm(*(w.denominator for _, w, _ in parts))
        least = math.prod((u / w) ** int(w * n) for _, w, u in parts)
        require(sum(w for _, w, _ in parts) == 1 and least >= c**n, "amgm: the shares are too small")
        for m, w, u in parts:
            rest[m] = rest.get(m, 0) - u
            for x, k in m: mean[x] = mean.get(x, 0) + w * k
        require(frozenset((x, k) for x, k in mean.items() if k) == monomial(b), "amgm: the mean is another monomial")
    require(all(c >= 0 and (c == 0 or positive(m)) for m, c in rest.items()), "amgm: the rest may be negative")
    return []

def order(node, f, box, where):
    """With the letters in any order, each the one before and a number >= 0: all coefficients are >= 0."""
    p, base = reduced(polynomial(f)), Fraction(node["base"])
    whole = all(x in box and n >= 0 and Fraction(n).denominator == 1 for m in p for x, n in m)
    require(whole and len(box) <= 5, "order: f is no polynomial in at most five letters")
    require(all(low >= base for low, _ in box.values()), "order: a letter may be below the base")
    for letters in itertools.permutations(box):
        of, above = {}, {UNIT: base}
        for x in letters: of[x] = above = total([above, {frozenset({(x, 1)}): 1}])
        terms = (reduce(multiplied, (to_power(of[x], Fraction(n)) for x, n in m), {UNIT: c}) for m, c in p.items())
        require(all(c >= 0 for c in total(terms).values()), "order: a coefficient is negative")
    return []

def logs(node, f, box, where):
    """f = sum c_i log(u_i) + rest, with rational c_i: exp(n f) >= 1."""
    p, rest, found = reduced(polynomial(f)), f, []
    for e in dict.fromkeys(e for e in nodes(f) if e[0] == "log"):
        m = next(iter(polynomial(e)), None)
        if any(m == known for _, _, known in found) or p.get(m) is None or sum(bool(m & k) for k in p) > 1: continue
        found.append((e, Fraction(p[m]), m))
    for e in nodes(f):
        if e[0] == "log" and any(polynomial(e) == {m: 1} for _, _, m in found): rest = put(rest, e, ZERO)
    written = plus(rest, *(times(number(c), e) for e, c, _ in found))
    require(same(box, f, written), "logs: f is not affine in its logarithms")
    n = math.lcm(*(c.denominator for _, c, _ in found))
    above, below = ([raised(e[1], abs(n * c)) for e, c, _ in found if c * s > 0] for s in (1, -1))
    return [(plus(times(("exp", times(number(n), rest)), *above), minus(times(*below))), box, where)]

def lipschitz(node, f, box, where):
    """|F(x) - F(y)| <= L |x - y| follows from |F'| <= L on the hull of both ranges."""
    (x, y), F, L = node["letters"], read(node["function"]), number(Fraction(node["constant"]))
    hull = {x: (min(box[x][0], box[y][0]), max(box[x][1], box[y][1]))}
    other = put(F, ("Symbol", x), ("Symbol", y))
    apart, values = (("Abs", plus(a, minus(b))) for a, b in ((("Symbol", x), ("Symbol", y)), (F, other)))
    require(same(box, f, plus(times(L, apart), minus(values))), "lipschitz: f is not L |x - y| - |F(x) - F(y)|")
    require_smooth(hull, F)
    slope = derivative(F, ("Symbol", x))
    return [(plus(L, minus(slope)), hull, []), (plus(L, slope), hull, [])]

def combination(e, letters, neurons):
    """e as an affine function of the letters and the neurons, by place; the number 1 has the place -1."""
    if e[0] == "Symbol": return {letters.index(e[1]): 1}
    if e[0] in ("Rational", "Pow"):
        constant = line(e)
        require(constant is not None and constant.keys() <= {""}, "neurons: a power is not constant")
        return total([{-1: constant.get("", 0)}])
    require(e[0] in ("Add", "Mul", *KINKS), f"neurons: {e[0]} is neither affine nor a kink")
    parts = [combination(part, letters, neurons) for part in e[1:]]
    if e[0] == "Add": return total(parts)
    if e[0] == "Mul":
        *numbers, last = sorted(parts, key=lambda p: bool(p.keys() - {-1}))
        require(all(p.keys() <= {-1} for p in numbers), "neurons: a product is not affine")
        return scaled(last, math.prod(p.get(-1, 0) for p in numbers))
    sign, parts = -1 if e[0] == "Min" else 1, [parts[0], scaled(parts[0], -1)] if e[0] == "Abs" else parts

    def larger(u, v):
        """max(u, v) = v + max(u - v, 0) = u + max(v - u, 0)."""
        apart = total([u, scaled(v, -1)])
        if apart.keys() <= {-1}: return u if apart.get(-1, 0) > 0 else v
        for rest, z in ((v, apart), (u, scaled(apart, -1))):
            for k, known in enumerate(neurons):
                c = next(Fraction(z[i]) / known[i] for i in z) if z.keys() == known.keys() else 0
                if c > 0 and z == scaled(known, c): return total([rest, {len(letters) + k: c}])
        raise RefusedError("neurons: a kink is none of the neurons")

    return scaled(reduce(larger, (scaled(part, sign) for part in parts)), sign)

def neurons(node, f, box, where):
    """f is affine in letters and neurons h = max(z, 0). The tree cuts by signs of z, first z >= 0."""
    rows, waiting = [total([{i: Fraction(a)} for i, a in row]) for row in node["neurons"]], [{}]
    require(all(-1 <= i < len(box) + k for k, z in enumerate(rows) for i in z), "neurons: one has an unknown letter")
    f = combination(f, [*box], rows)
    for by in node["tree"]:
        require(waiting, "neurons: the tree is complete before its end")
        signs = waiting.pop()
        if isinstance(by, int):
            require(0 <= by < len(rows) and by not in signs, "neurons: there is no such cut")
            waiting += [{**signs, by: -1}, {**signs, by: 1}]
        else: bounded(f, rows, box, where, signs, by)
    require(not waiting, "neurons: the tree is truncated")
    return []

def bounded(f, rows, box, where, signs, multipliers):
    """For l <= z <= u, h - z is >= 0, and 0 if l >= 0. If l < 0 < u, u (z - l) >= (u - l) h."""
    inner, ends, rest = [], [*box.values()], [f]

    def least(p): return sum(a if i < 0 else min(a * end for end in ends[i]) for i, a in p.items())

    for k, z in enumerate(rows):
        low, high = least(z), -least(scaled(z, -1))
        low, high = max(low, 0) if signs.get(k) == 1 else low, min(high, 0) if signs.get(k) == -1 else high
        if low > high: return
        inner.append((low, high))
        ends.append((max(low, 0), max(high, 0)))
    for k, a, b in ((k, Fraction(a), Fraction(b)) for k, a, b in multipliers):
        require(0 <= k < len(rows) + len(where), "neurons: a multiplier has no place")
        low, high = inner[k] if k < len(rows) else (-1, 0)
        signed = (a >= 0 or low >= 0) and b >= 0 and (b == 0 or low < 0 < high)
        require(signed, "neurons: a multiplier has a wrong sign")
        if k >= len(rows): rest.append(scaled(combination(where[k - len(rows)], [*box], rows), -a))
        else: rest += [{len(box) + k: b * (high - low) - a, -1: b * high * low}, scaled(rows[k], a - b * high)]
    require(least(total(rest)) >= 0, "neurons: what is left may be negative")

for premises in (factors, sum_, cases, piece, linear, monotone, squares, amgm, order, logs, lipschitz, neurons):
    step(premises.__name__.strip("_"), premises)

if __name__ == "__main__":
    sys.exit(kernel.main(sys.argv[1]))
