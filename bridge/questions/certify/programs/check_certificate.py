"""Checks a certificate of boundsmith with Python's standard library alone: python check_certificate.py FILE.json

What "confirmed" says: at every point of the printed box at which the printed conditions hold, every part of the printed
expression is a real number, and the inequality holds (of a refutation: it fails at the printed point, which is such a
point). All of it is computed again; nothing that a search found is trusted. What is not checked: that a paper or a
result states this inequality, and the reasons that the file has for its ranges.
Exit code: 0 if every claim of the file is confirmed, 1 if not. check_steps.py beside it has steps, sin, cos and pi.

A number is a whole number n that stands for n/2^128; an interval is a pair (low, high) that each operation rounds
outwards. An expression is a tuple: ("Rational", p, q), ("Symbol", name), ("Constant", name) or (operation, parts...).
"""

import hashlib
import json
import math
import re
import sys
import textwrap
from fractions import Fraction
from functools import cache, lru_cache, reduce
from itertools import chain, combinations, product

P = 128
ONE = 1 << P
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_'*~^\[\]{},.]{0,99}")
HALVINGS = 10  # of a box, where intervals enclose less tightly here than those of the search

class RefusedError(Exception):
    """Why a claim is not confirmed."""

def require(held, why):
    if not held: raise RefusedError(why)

# Intervals.

def enclosed(low, high): return (low.numerator << P) // low.denominator, -((-high.numerator << P) // high.denominator)
def add(a, b): return a[0] + b[0], a[1] + b[1]

def multiply(a, b):
    ends = a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]
    return min(ends) >> P, -(-max(ends) >> P)

def power(a, n):
    """a^n for a whole n: of |a| for an even one, by the ends for an odd one."""
    require(abs(n) <= 10**5, "an exponent is too large")
    if n < 0:
        a = power(a, -n)
        require(not a[0] <= 0 <= a[1], "a denominator is not shown to differ from 0")
        return ONE * ONE // a[1], -(-ONE * ONE // a[0])
    if n % 2 == 0:
        a = max(0, a[0], -a[1]), max(-a[0], a[1])
    elif a[0] < 0:
        below = power((max(0, -a[1]), -a[0]), n)
        return -below[1], power((0, a[1]), n)[1] if a[1] > 0 else -below[0]
    found = ONE, ONE
    for bit in bin(n)[2:]:
        found = found[0] * found[0] >> P, -(-found[1] * found[1] >> P)
        if bit == "1": found = found[0] * a[0] >> P, -(-found[1] * a[1] >> P)
    return found

def root(a, q):
    require(a[0] >= 0 and q <= 100, "what stands under a root is not shown to be >= 0")
    low, high = (whole_root(end << P * (q - 1), q) for end in a)
    return low, high + (high**q < a[1] << P * (q - 1))

def whole_root(n, q):
    """The largest whole number x with x^q <= n."""
    x = math.isqrt(n) if q == 2 else 0
    for bit in reversed(range(n.bit_length() // q + 1)) if q != 2 else ():
        if (x | 1 << bit) ** q <= n: x |= 1 << bit
    return x

def exp_at(x):
    """exp(x) = exp(x/2^k)^(2^k): the series at |x|/2^k < 1/8, whose rest is less than its last term."""
    if x == 0: return ONE, ONE
    k = max(0, abs(x).bit_length() - P + 3)
    require(k <= 20, "an argument of exp is too large")
    y, total, term, n = (x >> k, -(-x >> k)), (ONE, ONE), (ONE, ONE), 1
    while max(abs(term[0]), abs(term[1])) > 4:
        term = multiply(term, y)
        term = term[0] // n, -(-term[1] // n)
        total, n = add(total, term), n + 1
    total = total[0] - 8, total[1] + 8
    for _ in range(k): total = multiply(total, total)
    return max(0, total[0]), total[1]

def exp(a): return exp_at(a[0])[0], exp_at(a[1])[1]

def tanh(a):
    """1 - 2/(exp(2 x) + 1), which grows."""
    low, high = power(add(exp((2 * a[0], 2 * a[1])), (ONE, ONE)), -1)
    return ONE - 2 * high, ONE - 2 * low

def sinh(a, sign=-1):
    """(exp(x) - exp(-x))/2; of sign 1 the sum, which is cosh(x) and grows for x >= 0. Both ends, rounded outwards."""
    low, high = ([add(exp_at(x), exp_at(-x) if sign > 0 else (-exp_at(-x)[1], -exp_at(-x)[0])) for x in a])
    return low[0] >> 1, -(-high[1] >> 1)

def log_at(x):
    """A guess by floats and a step of Newton's method; that x lies between exp of both ends decides."""
    if x == ONE: return 0, 0
    y, distance = int((math.log(x) - P * math.log(2)) * 2**64) << P - 64, 64
    y += multiply((x, x), exp_at(-y))[0] - ONE
    while exp_at(y - distance)[1] > x or exp_at(y + distance)[0] < x: distance *= 4
    return y - distance, y + distance

def log(a):
    require(a[0] > 0, "an argument of log is not shown to be > 0")
    return log_at(a[0])[0], log_at(a[1])[1]

# Expressions.

def number(x): return ("Rational", Fraction(x).numerator, Fraction(x).denominator)
def value(e): return Fraction(int(e[1]), int(e[2]))
ZERO, ONCE, TWICE, HALF, MINUS = map(number, (0, 1, 2, Fraction(1, 2), -1))
def plus(*parts): return joined("Add", ZERO, parts)
def times(*parts): return ZERO if ZERO in parts else joined("Mul", ONCE, parts)
def minus(e): return times(MINUS, e)
def raised(e, n): return ONCE if n == 0 else e if n == 1 else ("Pow", e, number(n))

def joined(operation, neutral, parts):
    kept = [part for part in parts if part != neutral]
    return (operation, *kept) if len(kept) > 1 else kept[0] if kept else neutral

LEAVES, OPERATIONS, KINKS = ("Rational", "Symbol", "Constant"), ("Add", "Mul", "Pow"), ("Abs", "Max", "Min")
CONSTANTS, STEPS = {}, {}  # more of them: check_steps.py
FUNCTIONS = {  # on an interval, and the derivative
    "exp": (exp, lambda x: ("exp", x)),
    "log": (log, lambda x: raised(x, -1)),
    "tanh": (tanh, lambda x: plus(ONCE, minus(raised(("tanh", x), 2)))),
    "sinh": (sinh, lambda x: ("cosh", x)),
    "cosh": (lambda a: sinh((max(0, a[0], -a[1]), max(-a[0], a[1])), 1), lambda x: ("sinh", x)),
}
WRITTEN_OUT = {  # for identities
    "tanh": lambda x: plus(ONCE, minus(times(TWICE, raised(plus(ONCE, ("exp", times(TWICE, x))), -1)))),
    "sinh": lambda x: times(HALF, plus(("exp", x), minus(("exp", minus(x))))),
    "cosh": lambda x: times(HALF, plus(("exp", x), ("exp", minus(x)))),
}

def read(e):
    """A record as an expression; b^x is exp(x log(b)) unless x is rational."""
    if e[0] == "Rational": return number(value(e))
    if e[0] in LEAVES:
        require(len(e) == 2 and isinstance(e[1], str), f"{e[0]} has a wrong number of parts")
        return ("exp", ONCE) if e[1] == "E" and e[0] == "Constant" else (e[0], e[1])
    require(e[0] in (*OPERATIONS, *KINKS, *FUNCTIONS), f"this program does not know {e[0]}")
    parts = [read(part) for part in e[1:]]
    several = e[0] in ("Add", "Mul", "Max", "Min")
    require(parts if several else len(parts) == 1 + (e[0] == "Pow"), f"{e[0]} has a wrong number of parts")
    if e[0] == "Pow" and parts[1][0] != "Rational": return ("exp", ("Mul", parts[1], ("log", parts[0])))
    return (e[0], *parts)

def parts_of(e): return e[1:2] if e[0] == "Pow" else () if e[0] in LEAVES else e[1:]
def nodes(e): return [e, *chain(*map(nodes, parts_of(e)))]

def put(e, x, new):
    """With `new` in the place of the letter (or any node) x."""
    if e == x: return new
    return e if e[0] in LEAVES else (e[0], *(put(part, x, new) for part in parts_of(e)), *e[1 + len(parts_of(e)) :])

@cache
def derivative(e, x):
    """In the letter x. At a kink it lies between the slopes of both sides (Clarke): ("Either", which, slope, slope)."""
    if e[0] in LEAVES: return ONCE if e == x else ZERO
    parts, inner = parts_of(e), [derivative(part, x) for part in parts_of(e)]
    if e[0] == "Add": return plus(*inner)
    if e[0] == "Mul": return plus(*(times(*parts[:i], inner[i], *parts[i + 1 :]) for i in range(len(parts))))
    if e[0] == "Pow": return times(e[2], raised(parts[0], value(e[2]) - 1), inner[0])
    if e[0] in FUNCTIONS: return times(FUNCTIONS[e[0]][1](*parts), *inner)
    if e[0] == "Abs": return ("Either", parts[0], inner[0], minus(inner[0]))
    rest = (e[0], *parts[1:]) if len(parts) > 2 else parts[1]
    ahead = plus(parts[0], minus(rest)) if e[0] == "Max" else plus(rest, minus(parts[0]))
    return ("Either", ahead, inner[0], derivative(rest, x))

# Values on boxes.

def evaluate(e, at):
    """An enclosure of the value; `at` has those of the letters, by name, and of the nodes met before, with these."""
    key = e[1] if e[0] == "Symbol" else id(e)
    if key not in at: at[key] = evaluated(e, at), e
    return at[key][0]

def evaluated(e, at):
    require(e[0] != "Symbol" and (e[0] != "Constant" or e[1] in CONSTANTS), f"this program does not know {e[-1]}")
    if e[0] in LEAVES: return whole(e) if e[0] == "Rational" else CONSTANTS[e[1]]
    parts = [evaluate(part, at) for part in parts_of(e)]
    a = parts[0]
    if e[0] == "Add": return sum(low for low, _ in parts), sum(high for _, high in parts)
    if e[0] == "Mul": return reduce(multiply, parts)
    if e[0] == "Pow": return power(a if e[2][2] == 1 else root(a, e[2][2]), e[2][1])
    if e[0] == "Abs": return max(0, a[0], -a[1]), max(-a[0], a[1])
    if e[0] == "Either":
        b, c = parts[1:]
        return b if a[0] > 0 else c if a[1] < 0 else (min(b[0], c[0]), max(b[1], c[1]))
    if e[0] in KINKS: return tuple(map(max if e[0] == "Max" else min, *parts))
    return FUNCTIONS[e[0]][0](a)

@cache
def whole(e): return enclosed(value(e), value(e))
@lru_cache(maxsize=1)
def ranges(sides): return {x: (enclosed(*ends), None) for x, ends in sides}
def letters(box): return ranges(tuple(box.items()))

def exactly(e, point):
    """The value at a point if it is rational; -1 if not."""
    found = reduced(polynomial(reduce(lambda e, x: put(e, ("Symbol", x), number(point[x])), point, e)))
    return found.get(UNIT, 0) if set(found) <= {UNIT} else -1

def everywhere(look, box, left=HALVINGS):
    """`look` succeeds (None) on the box or on each part of it; it names a letter to halve, or raises RefusedError."""
    try: x = look(box)
    except RefusedError:
        x = max(box, key=lambda x: box[x][1] - box[x][0], default=None)
        if not left or x is None or box[x][0] == box[x][1]: raise
    if x is not None:
        (low, high), middle = box[x], sum(box[x]) / 2
        require(left and low < high, "its lower bound is below 0")
        for half in ((low, middle), (middle, high)): everywhere(look, {**box, x: half}, left - 1)

def require_defined(box, *expressions):
    for e in expressions: everywhere(lambda part, e=e: evaluate(e, letters(part)) and None, box)

def require_smooth(box, e):
    """It has no kink, and the derivatives of all its nodes are finite on the box."""
    require(all(node[0] not in KINKS for node in nodes(e)), "there is a kink")
    require_defined(box, e, *(raised(node[1], value(node[2]) - 1) for node in nodes(e) if node[0] == "Pow"))

# f(x) = f(c) + sum_i f_i(xi) (x_i - c_i). Where f_i >= 0, c_i is the lower end, where f_i <= 0 the upper one: the terms
# are >= 0. Otherwise c_i is the middle, and the term is at least -|f_i| times half the width.
def require_positive(box, e, strict=False):
    """It is defined and >= 0 (> 0 if strict) on the box: by its range or by the mean value form, on parts of it."""
    def look(box):
        at, centre, loss, weights = letters(box), {}, 0, {}
        if evaluate(e, at)[0] >= strict: return None
        for x, (low, high) in box.items():
            below, above = evaluate(derivative(e, ("Symbol", x)), at)
            centre[x] = low if below >= 0 else high if above <= 0 else (low + high) / 2
            weights[x] = multiply((0, max(-below, above)), enclosed(high - low, high - low))[1]
            if below < 0 < above: loss += weights[x] // 2 + 1
        low, high = evaluate(e, letters({x: (c, c) for x, c in centre.items()}))
        exact = exactly(e, centre) if not loss and low <= 0 <= high else -1
        if low - loss >= strict or exact > 0 or (exact == 0 and not strict): return None
        return max(weights, key=weights.get, default=None) or require(False, "its value is below 0")
    everywhere(look, box)

# Identities: sums of monomials (sets of pairs of a letter and its power) in the letters x, exp(m), log(u) or b^(1/q).
# Such a sum has the value of its expression wherever that is defined.

UNIT = frozenset()
SPECIAL = {"log": ({UNIT: 1}, {})}  # log(1) = 0

def total(parts):
    found = {}
    for m, c in chain(*(part.items() for part in parts)): found[m] = found.get(m, 0) + c
    return {m: c for m, c in found.items() if c}

def scaled(p, c): return {m: c * a for m, a in p.items() if c}

def multiplied(a, b):
    found = []
    for (m, c), (k, d) in product(a.items(), b.items()):
        powers = dict(m)
        for x, n in k: powers[x] = powers.get(x, 0) + n
        found.append({frozenset(pair for pair in powers.items() if pair[1]): c * d})
    return total(found)

@cache
def polynomial(e, known=frozenset()):
    """The sum; the letters in `known` are >= 0."""
    if e[0] == "Rational": return total([{UNIT: value(e)}])
    if e[0] in LEAVES: return {frozenset({(e[1] if e[0] == "Symbol" else e, 1)}): 1}
    parts = [polynomial(part, known) for part in parts_of(e)]
    if e[0] == "Add": return total(parts)
    if e[0] == "Mul": return reduce(multiplied, parts)
    if e[0] == "Pow": return to_power(parts[0], value(e[2]), known)
    if e[0] == "exp": return {frozenset((("exp", m), c) for m, c in parts[0].items()): 1}
    if e[0] in WRITTEN_OUT: return polynomial(WRITTEN_OUT[e[0]](*e[1:]), known)
    if e[0] in SPECIAL and not reduced(total([parts[0], scaled(SPECIAL[e[0]][0], -1)]), True): return SPECIAL[e[0]][1]
    keys = frozenset(frozenset(reduced(part).items()) for part in parts)
    if e[0] == "Abs": keys |= {frozenset((m, -c) for m, c in key) for key in keys}
    return {frozenset({((e[0], keys), 1)}): 1}

def to_power(p, n, known=frozenset()):
    if n.denominator == 1 and (n >= 0 or len(p) == 1):
        base = {frozenset((x, -k) for x, k in m): 1 / Fraction(c) for m, c in p.items()} if n < 0 else p
        return reduce(multiplied, [base] * abs(int(n)), {UNIT: 1})
    require(p, "0 has a power that is not defined")
    m, c = next(iter(p.items()))
    plain, positive = c == 1 and [k for _, k in m] == [1], all(x[0] == "exp" or x in known for x, _ in m)
    if m and len(p) == 1 and (plain or positive):
        return multiplied(to_power({UNIT: c}, n), {frozenset((x, k * n) for x, k in m): 1})
    exact = Fraction(*(whole_root(end, n.denominator) for end in Fraction(abs(c)).as_integer_ratio()))
    if set(p) == {UNIT} and exact**n.denominator == c: return {UNIT: exact**n.numerator}
    return {frozenset({(("power", frozenset(reduced(p).items())), n)}): 1}

def reduced(p, cleared=False):
    """With each b^n, n >= 1, written out. If `cleared`, times the denominators, which are not 0."""
    while powers := [(n, x) for m in p for x, n in m if x[0] == "power" and (n >= 1 or (cleared and n < 0))]:
        n, b = min(powers, key=lambda pair: pair[0])
        if n < 0: p = multiplied(p, {frozenset({(b, -n)}): 1})
        else:
            wholes = [(m, c, max(0, math.floor(dict(m).get(b, 0)))) for m, c in p.items()]
            lowered = ((multiplied({m: c}, {frozenset({(b, -n)}): 1}), n) for m, c, n in wholes)
            p = total(multiplied(rest, to_power(dict(b[1]), Fraction(n))) for rest, n in lowered)
    return p

def same(box, e, f):
    """Whether they are equal wherever both are defined on the box."""
    known = frozenset(x for x, (low, _) in box.items() if low >= 0)
    return not reduced(polynomial(plus(e, minus(f)), known), cleared=True)

# Trees of boxes. A goal (f, box, where): f is defined and >= 0 (> 0 if strict) wherever all of `where` are >= 0.

def follow(f, box, where, tree, strict=False, forms=()):
    """Goes through a tree, whose boxes cover the whole box by construction; the number of its leaves."""
    waiting, leaves = [box], 0
    for node in tree:
        for _ in range(node[1] if isinstance(node, list) and isinstance(node[0], str) else 1):
            require(waiting, "the tree is complete before its end")
            part, by = waiting.pop(), node if isinstance(node, dict) else node[0]
            if isinstance(by, int):
                x = dict(enumerate(part)).get(by)
                require(x is not None, "a cut is across no letter")
                (low, high), at = part[x], Fraction(node[1]) if len(node) > 1 else sum(part[x]) / 2
                require(low < at < high, "a cut is outside of its box")
                waiting += [{**part, x: (at, high)}, {**part, x: (low, at)}]
                continue
            try: leaf(by, f, part, where, strict, forms)
            except RefusedError as error: raise RefusedError(f"box {leaves} ({ends(part)}): {error}") from None
            leaves += 1
    require(not waiting, "the tree is truncated")
    return leaves

def leaf(by, f, box, where, strict, forms):
    if isinstance(by, dict):
        require(by["step"] in STEPS and not strict, f"this program does not know the step {by['step']}")
        STEPS[by["step"]](by, f, box, where)
    elif by in ("range", "slope"): require_positive(box, f, strict)
    elif by in [f"outside {k}" for k in range(len(where))]: require_positive(box, minus(where[int(by[8:])]), True)
    else:
        require(by in forms and not strict, "it is open" if by == "open" else f"this program does not know {by} here")
        forms[by](box)

def minors(H):
    """All principal minors: a symmetric matrix is positive semidefinite if and only if none of them is negative."""
    def determinant(rows, columns):
        others = [tuple(k for k in columns if k != j) for j in columns]
        terms = [times(H[rows[0]][j], determinant(rows[1:], rest)) for j, rest in zip(columns, others)]
        return plus(*(minus(term) if i % 2 else term for i, term in enumerate(terms))) if rows else ONCE
    return [determinant(s, s) for k in range(1, len(H) + 1) for s in combinations(range(len(H)), k)]

def by_form(box, f, z, H):
    """f = z^T H z with a matrix that is symmetric, and positive semidefinite on the box."""
    require([*map(tuple, H)] == [*zip(*H)] and len(z) == len(H), "the matrix is not symmetric")
    require(same(box, f, plus(*(times(a, e, b) for a, row in zip(z, H) for b, e in zip(z, row)))), "the form is not f")
    found = minors(H)
    def by(box):
        require_defined(box, f, *z, *chain(*H))
        for minor in found: require_positive(box, minor)
    return by

# Taylor from y = 0, where f and its gradient in y are 0: f = y^T H(xi) y / 2, and xi is in the box widened to y = 0.
def by_hessian(box, f, vanishing):
    slopes = [derivative(f, ("Symbol", y)) for y in vanishing]
    for each in (f, *slopes):
        for y in vanishing: each = put(each, ("Symbol", y), ZERO)
        require(same(box, each, ZERO), "f or its gradient is not 0 at the equilibrium")
    found = minors([[derivative(slope, ("Symbol", y)) for y in vanishing] for slope in slopes])
    def by(box):
        wide = box | {y: (min(box[y][0], Fraction(0)), max(box[y][1], Fraction(0))) for y in vanishing}
        require_smooth(wide, f)
        for minor in found: require_positive(wide, minor)
    return by

# The file.

def check(claim):
    """What is confirmed of a claim. Raises RefusedError."""
    q, verdict, forms = claim["inequality"], claim["verdict"], {}
    f, where, strict = read(q["expression"]), [read(each) for each in q["where"]], q["strict"]
    box = {x: (Fraction(low), Fraction(high)) for x, low, high in q["box"]}
    require(isinstance(strict, bool), "strict is neither true nor false")
    require(all(low <= high for low, high in box.values()), "a range is empty")
    require(all(NAME.fullmatch(x) for x in box), "the name of a letter is unusual")
    if verdict == "refuted":
        point = {x: (Fraction(claim["point"][x]),) * 2 for x in box}
        require(all(low <= point[x][0] <= high for x, (low, high) in box.items()), "the point is outside of the box")
        for each in (*where, plus(number(Fraction(claim["value"])), minus(f))): require_positive(point, each)
        require_positive(point, minus(f), strict=not strict)
        return f"it is false, at {ends(point)}"
    require(verdict == "proved", "the file leaves it undecided")
    used = [node[0] for node in claim["tree"] if isinstance(node, list)]
    if "form" in used:
        z, H = q["form"]["vector"], q["form"]["matrix"]
        forms["form"] = by_form(box, f, [read(e) for e in z], [[read(e) for e in row] for row in H])
    if "hessian" in used: forms["hessian"] = by_hessian(box, f, q["vanishing"])
    return f"it holds, on {follow(f, box, where, claim['tree'], strict, forms)} boxes"

def words(e, level=0):
    """A record as text."""
    if e[0] == "Rational": text, own = str(value(e)), 4 if value(e) >= 0 and value(e).denominator == 1 else 0
    elif e[0] in LEAVES: text, own = e[1], 4
    elif e[0] in OPERATIONS:
        own = OPERATIONS.index(e[0]) + 1
        text = (" + ", "*", "**")[own - 1].join(words(part, own + (own == 3)) for part in e[1:])
    else: text, own = f"{e[0]}({', '.join(map(words, e[1:]))})", 4
    return text if own >= level else f"({text})"

def ends(box): return ", ".join(f"{x} = {a}" if a == b else f"{a} <= {x} <= {b}" for x, (a, b) in box.items())

def statement(q):
    box, relation = {x: (low, high) for x, low, high in q["box"]}, ">" if q["strict"] else ">="
    where = "".join(f", where {words(each)} >= 0" for each in q["where"])
    return f"For all real numbers {ends(box)}{where}: {words(q['expression'])} {relation} 0"

def main(path):
    with open(path, encoding="utf-8") as file: content = json.load(file, parse_float=str)
    body = json.dumps({k: v for k, v in content.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
    failed = hashlib.sha256(body.encode()).hexdigest() != content["digest"]
    if failed: print("The digest does not match: the file was changed after it was written.\n")
    if not content["claims"]:
        failed = True
        print("The file has no claims.\n")
    for claim in content["claims"]:
        q, origin = claim["inequality"], claim["origin"]
        stated = f", stated by {json.dumps(origin['result'])}" if origin else ""
        print(f"The file calls it {json.dumps(q['name'])}{stated}.")
        print(textwrap.fill(statement(q), 118, break_on_hyphens=False))
        try: print(f"confirmed: {check(claim)}\n", flush=True)
        except (RefusedError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            why, failed = error if isinstance(error, RefusedError) else "the claim cannot be read", True
            print(f"NOT CONFIRMED: {why}\n", flush=True)
    print("Some claims are not confirmed." if failed else "All claims are confirmed.")
    return int(failed)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
