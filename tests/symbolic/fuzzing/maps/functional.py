"""Functions, coordinate by coordinate, and approximants that deviate as far as they may."""

from dataclasses import replace

import numpy as np

from tests.symbolic.fuzzing.functions import FORMS, Form, Function
from tests.symbolic.fuzzing.maps.map import About, Map, Pair
from tests.symbolic.fuzzing.program import Program


# f_hat may be off by eps in either direction at each argument: the signs stand beside it.
def apply_function(program: Program, about: About) -> Map:
    form = FORMS[_WHEREVER[program.whole(0, len(_WHEREVER) - 1)]]
    return _applied(program, about, _function(program, about, form, np.inf))


# Where the argument lies in [-R, R] f may be steeper than that; it is wild outside the range that it is known on.
def apply_within(program: Program, about: About) -> Map:
    reach = (about.size + about.error) * (1.0 if about.fits else program.number(0.9, 2.5))
    names = tuple(FORMS) if reach > 0 and not about.layer else _WHEREVER
    made = _function(program, about, FORMS[names[program.whole(0, len(names) - 1)]], max(reach, 1e-3))
    return _applied(program, about, made)


_WHEREVER = ("line", "kink", "ramp", "tanh")


def _function(program: Program, about: About, form: Form, reach: float) -> Function:
    eps = 0.0 if program.chance(0.3) else program.number(0.01, 0.5)
    derivatives = len(form.derivatives) if program.chance(0.6) else program.whole(0, len(form.derivatives))
    known = ((2,), (3,), (2, 3))[program.whole(0, 2)] if derivatives else ()
    return Function(
        form,
        program.number(0.2, about.most),
        eps,
        tilt=program.number(0.05, 3.0) if eps and program.chance(0.3) else 0.0,
        reach=reach * (1 + 1e-12),
        derivatives=derivatives,
        supremum=known,
        sup=program.chance(0.5),
        local=program.chance(0.7),
        difference=program.chance(0.5),
    )


def straight(program: Program, about: About) -> Map:
    """A multiple of the argument, with all that is known of such a function: nothing but the slopes remain.

    Its approximant deviates by a multiple of the argument as well, which reaches eps nowhere.
    """
    eps = 0.0 if program.chance(0.3) else program.number(0.01, 0.5)
    tilt = program.rng.uniform(0.2, 0.9) * eps / max(about.size + about.error, 1e-3)
    known = {"sup": program.chance(0.5), "local": True, "difference": program.chance(0.5)}
    made = Function(FORMS["line"], program.number(0.2, about.most), eps, tilt, derivatives=2, supremum=(2,), **known)
    return _applied(program, about, made)


def _applied(program: Program, about: About, function: Function, **arguments: float) -> Map:
    signs = program.handle(kind="s") if function.eps else ""
    slope, secant = (each(function.reach) for each in (function.form.slope, function.form.secant))
    arguments = {
        "eps": function.eps,
        "lipschitz": function.scale * slope,
        "size": function.scale * secant * about.size,
        **({"radius": function.reach} if np.isfinite(function.reach) else {}),
        **arguments,
    }

    def run(exact: np.ndarray, near: np.ndarray) -> Pair:
        values = function.exact(np, exact)
        towards = np.where((function.exact(np, near) < values) == (function.deviation(near, 1.0) < 0), 1.0, -1.0)
        moved = function.emulated(np, near, towards)
        if signs:
            program.operands[signs].append(about.tokens(towards))
        if np.isfinite(function.reach):
            moved = np.where(np.abs(near) <= function.reach * (1 + 1e-9), moved, 1e9)
        return values, moved

    named = {"function": program.handle(function, "f"), "beside": (signs,) if signs else ()}
    return Map("apply_function", {**arguments, **named}, run, about.norm)


# f(z) = a z, a z + b z|z|/2 or a z + c z^3/6: odd and increasing, |f'| and |f''| grow with |z|. At |z| = size, moved
# outwards, the expansion of its order is exact.
def taylor(program: Program, about: About) -> Map:
    order, size = program.whole(1, 3), about.size
    a, b, c = (program.number(0.2, 1.0) if place in (1, order) else 0.0 for place in (1, 2, 3))
    reach = max(size + about.error, 1e-3) * (1 + 1e-12)
    above = {1: a + b * reach + c * reach**2 / 2, 2: b + c * reach, 3: c}
    form = Form(
        lambda xp, z: a * z + b * z * abs(z) / 2 + c * z * z * z / 6,
        (lambda xp, z: a + b * abs(z) + c * z * z / 2, *([lambda xp, z: c * z] if order == 3 else [])),
        lambda reach: above,
        lambda reach: above[1],
    )
    eps = 0.0 if program.chance(0.4) else program.number(0.01, 0.5)
    derivatives = program.whole(0, len(form.derivatives))
    function = Function(form, 1.0, eps, reach=reach, derivatives=derivatives, supremum=(2, 3)[: order - 1])
    made = _applied(program, about, function)
    named = {key: each for key, each in made.arguments.items() if key != "lipschitz"}
    named["suprema"] = {k: bound for k, bound in above.items() if k == order or (program.chance(0.5) and k < order)}
    named["derivatives"] = {1: a + b * size + c * size**2 / 2, 2: b + c * size}
    named["size"] = (a + b * size / 2 + c * size**2 / 6) * size
    return replace(made, rule="taylor", arguments=named)


# sin against its argument: eps depends on the range (Taylor's remainder).
def taylor_range(program: Program, about: About) -> Map:
    reach = max(about.size + about.error, 1e-3) * (1 + 1e-12)
    function = Function(FORMS["sine"], reach=reach, identity=True, derivatives=program.whole(0, 2), supremum=(2, 3))
    return _applied(program, about, function, eps=reach**3 / 6)
