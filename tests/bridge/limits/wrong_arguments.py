"""Calls with wrong arguments, by name, and what the refusal says.

`python -m tests.bridge.limits.wrong_arguments` makes them.

The tests check the types of arguments; here nothing does, as in a script of a user.
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sympy as sp
import torch

import boundsmith as bs
from symbolic.statements.exact_claims import numbers
from symbolic.words.errors import UsageError

x, y, a = sp.symbols("x y a", positive=True)
HALF = sp.Rational(1, 2)
LINE = bs.checks.Condition("line", x, {}, 1)
FLOW = bs.dynamics.Flow((x,), (-a * x,))
COST = bs.checks.PathCost((y - x) ** 2, x, y)
GRID = {"x": numbers(1, 2)}


def accuracies(bound: Any = 5 * x + a * y, costs: Any = {x: 3.0, y: 1.0}, eps: Any = 0.1, **more: Any) -> Any:  # noqa: B006
    return bs.formulas.accuracies_within(bound, {a: 2}, costs, eps, **{"power": HALF, **more})


def least(ranges: Any = {x: (0, 1)}, **more: Any) -> Any:  # noqa: B006
    return bs.formulas.least_of(
        more.pop("expression", x), ranges, more.pop("values", None), **{"tolerance": 0.1, **more}
    )


def path(cost: Any = COST, ends: Any = (1, 0), layers: Any = 2, **more: Any) -> Any:
    return bs.checks.least_path(cost, ends, layers, **{"within": (0, 1), "start": [0.5], **more})


def threshold(**more: Any) -> Any:
    return bs.checks.Threshold(**{"name": "t", "letter": x, "kept": 2 - x**2, "broken": 2 - x**2, "top": 2, **more})


def claim(left: Any = 1, **more: Any) -> Any:
    given = {"relation": "<=", "sides": lambda _: (left, 2), "premises": lambda _: [], "grid": GRID}
    return bs.statements.ExactClaim("c", **{**given, **more}).refutation()


def run(flow: Any = FLOW, start: Any = {x: 1}, end: Any = 1, letters: Any = {a: 1}, **more: Any) -> Any:  # noqa: B006
    return bs.dynamics.follow(flow, start, end, letters, **more)


def lines(lines: Any = ("a",), **more: Any) -> Any:
    return bs.sources.numbered_lines(lines, **{"comment": "#", **more})


def flip(**more: Any) -> Any:
    theta = {"w": torch.ones(1, dtype=torch.float64)}
    given = {"parameters": theta, "directions": {}, "run": bs.checks.Run(1, 1, 1, 0), "largest": 1.0}
    return bs.checks.flip_distance(lambda w: w["w"][:, 0], **{**given, **more})


def drafted(**more: Any) -> Any:
    y = bs.rules.apply_function(bs.rules.given("u", dim=3, size=1), "y", eps=a, lipschitz=1, size=1)
    return bs.theorem("own", y, **{"parameters": {a: 1}, **more})


def parameter_path(way: Any = x, smalls: Any = (0.1,), **more: Any) -> Any:
    return bs.statements.ParameterPath("p", {x: way}, smalls, **more)


Calls = dict[str, tuple[Callable[[], Any], str]]
POSITIVE, SYMBOLS, REAL = "give a positive finite number", "give a mapping from SymPy symbols", "give a real number"
FORMULA = "give a scalar SymPy expression or a number"

CALLS: Calls = {
    "one condition": (lambda: bs.checks.largest_perturbation(LINE, x), "give a list of Conditions"),
    "a most of text": (lambda: bs.checks.largest_perturbation([LINE], x, most="1"), f"most = '1'; {POSITIVE}"),
    "a most in letters": (lambda: bs.checks.largest_perturbation([LINE], x, most=a), f"most = a; {POSITIVE}"),
    "an unknown of text": (lambda: bs.checks.largest_perturbation([LINE], "x"), "unknown = 'x'; give the symbol"),
    "a limit of text": (
        lambda: bs.checks.Condition("l", x, {}, "1"),
        "Condition 'l': limit = '1'; give a finite real number",
    ),
    "a bound of text": (lambda: bs.checks.Condition("l", "x", {}, 1), f"bound = 'x'; {FORMULA}"),
    "values by name": (lambda: bs.checks.Condition("l", x, {"a": 1}, 1), SYMBOLS),
    "a value of text": (
        lambda: bs.checks.largest_perturbation([bs.checks.Condition("l", a * x, {a: "2"}, 1)], x),
        REAL,
    ),
    "a size of text": (lambda: bs.checks.order_sides(1, {"a": 1.0, "b": 2.0}), "a size = 'a'; give a whole number"),
    "a difference of text": (
        lambda: bs.checks.order_sides(1, {1: "1", 2: 2.0}),
        "the difference at 1 = '1'; give a finite",
    ),
    "words that are text": (lambda: bs.checks.order_sides(1, {1: 1.0, 2: 2.0}, "n"), "words = 'n'; give a function"),
    "an eps of 0": (lambda: accuracies(eps=0), f"accuracies_within: eps = 0; {POSITIVE}"),
    "an infinite eps": (lambda: accuracies(eps=sp.oo), f"eps = oo; {POSITIVE}"),
    "an eps of text": (lambda: accuracies(eps="0.1"), f"eps = '0.1'; {POSITIVE}"),
    "a negative most": (lambda: accuracies(most={x: -1.0}), f"most[x] = -1.0; {POSITIVE}"),
    "a most of another letter": (
        lambda: accuracies(most={a: 1.0}),
        "most limits a, which is not an accuracy; `costs` n",
    ),
    "a negative cost": (lambda: accuracies(costs={x: -1, y: 1}), "costs[x] = -1; give a number >= 0"),
    "a power of 0": (lambda: accuracies(power=0), f"power = 0; {POSITIVE}"),
    "an accuracy bound of text": (lambda: accuracies("x"), f"bound = 'x'; {FORMULA}"),
    "a range of text": (lambda: least({x: ("0", "1")}), "give sides with two finite ends, the lower one first"),
    "a range of one end": (lambda: least({x: (0,)}), "give sides with two finite ends"),
    "a reversed range": (lambda: least({x: (1, 0)}), "the lower one first"),
    "ranges in a list": (lambda: least([(0, 1)]), SYMBOLS),
    "a range and a value": (lambda: least(values={x: 1}), "least_of: x has a range and a value"),
    "a negative tolerance": (lambda: least(tolerance=-1), "tolerance = -1; give a number >= 0"),
    "no boxes": (lambda: least(most_boxes=0), "most_boxes = 0; give a whole number, at least 1"),
    "an expression of text": (lambda: least(expression="x"), f"expression = 'x'; {FORMULA}"),
    "an empty box": (
        lambda: bs.formulas.least_value(lambda t: t[0], [], tolerance=1),
        "least_value: the box []; give sides",
    ),
    "a function of no ball": (
        lambda: bs.formulas.least_value(lambda _: None, [(0, 1)], tolerance=1),
        "has to give a ball",
    ),
    "too few slopes": (
        lambda: bs.formulas.least_value(lambda t: t[0], [(0, 1)], tolerance=0.1, gradient=lambda _: []),
        "0 slo",
    ),
    "a cost that is a formula": (lambda: path((y - x) ** 2), "give a PathCost"),
    "ends of text": (lambda: path(ends="ab"), "least_path: ends = 'ab', within = (0, 1)"),
    "no layers": (lambda: path(layers=0), "layers = 0; give a whole number, at least 1"),
    "no cells": (lambda: path(cells=0), "cells = 0; give a whole number, at least 1"),
    "a step of other letters": (lambda: bs.checks.PathCost(a * x, x, y), "PathCost: a has no value; give step in x, y"),
    "one symbol twice": (lambda: bs.checks.PathCost(x, x, x), "here = x, after = x; give two symbols"),
    "a negative factor": (lambda: bs.checks.PathCost(x, x, y, last=-1), f"last = -1; {POSITIVE}"),
    "an infinite top": (lambda: threshold(top=sp.oo), "Threshold 't': top = oo; give a rational number"),
    "a top of 0": (lambda: threshold(top=0), "top = 0; give a number > 0"),
    "a grain of 0": (lambda: threshold(grain=0), "grain = 0; give a whole number, at least 1"),
    "a threshold of text": (lambda: threshold(kept="x"), f"kept = 'x'; {FORMULA}"),
    "an off of text": (lambda: threshold().inequalities("1"), "off = '1'; give a rational number"),
    "an irrational side": (lambda: claim(sp.sqrt(2)), "the left side = sqrt(2); give a rational number"),
    "a side that is nan": (lambda: claim(math.nan), "the left side = nan; give a rational number"),
    "one side": (lambda: claim(sides=lambda _: 3), "sides give 3; give the pair (left, right)"),
    "numbers for vectors": (lambda: claim(grid={"x": (1, 2)}), "grid['x'] = (1, 2); give vectors of rationals"),
    "no grid": (lambda: claim(grid={}), "grid = {}; give vectors of rationals"),
    "premises that are true": (lambda: claim(premises=lambda _: True).refutation(), "premises give True; give what is"),
    "a complex limit": (
        lambda: bs.checks.Condition("line", x, {}, 1 + 0j),
        "limit = (1+0j); give a finite real number",
    ),
    "a most below floats": (
        lambda: bs.checks.largest_perturbation([LINE], x, most=sp.Rational(1, 10**400)),
        "is below all floats; give a larger one",
    ),
    "a start beyond floats": (lambda: run(start={x: 10**400}), "give a finite number for each coordinate"),
    "an end below floats": (lambda: run(end=sp.Rational(1, 10**400)), "follow: end = "),
    "evaluate beyond floats": (
        lambda: bs.formulas.evaluate(x, {x: 10**400}),
        "x: an integer of 1329 bits is beyond the range of float64",
    ),
    "evaluate at what needs a gradient": (
        lambda: bs.formulas.evaluate(x, {x: torch.ones(2, requires_grad=True, dtype=torch.float64)}),
        "give a real number or an array of them",
    ),
    "a gap below floats": (
        lambda: bs.checks.order_sides(1, {8: sp.Rational(1, 10**400), 16: 0.5}),
        "give a number in the range of float64",
    ),
    "points beyond floats": (
        lambda: bs.checks.log_slope([(1, 1), (2, 10**400), (4, 16)]),
        "give pairs (x, y) of numbers",
    ),
    "a share beyond floats": (
        lambda: bs.checks.log_slope([(1, 1), (2, 2), (4, 16)], 10**400),
        "give a number between 0 and 1",
    ),
    "premises of no function": (lambda: claim(premises=5), "premises = 5; give a function"),
    "a check of text": (
        lambda: bs.checks.exact_check("q", "c"),
        "exact_check: got 'q' and 'c'; give a Quantity and an Exa",
    ),
    "a flow of text": (lambda: run("x"), "follow: flow = 'x'; give a Flow"),
    "a flow in a list": (lambda: run([-x]), "flow = [-x]; give a Flow"),
    "a start of text": (lambda: run(start={x: "1"}), "start={x: '1'}; give a finite number for each coordinate"),
    "no end": (lambda: run(end=math.inf), f"end = inf; {POSITIVE}"),
    "a longest step of 0": (lambda: run(longest_step=0), f"longest_step = 0; {POSITIVE}"),
    "a negative accuracy": (lambda: run(absolute=-1), "absolute = -1; give a number >= 0, or one for each of the 1"),
    "a stop of text": (lambda: run(stop="x"), f"formula = 'x'; {FORMULA}"),
    "a view of text": (lambda: run(views={y: "x"}), f"views[y] = 'x'; {FORMULA}"),
    "a reading of text": (lambda: run().at([0.5], "x"), f"formula = 'x'; {FORMULA}"),
    "times of text": (lambda: run().at("a", x), "Trajectory.at: times = 'a'; give a number or a list of numbers"),
    "times in two rows": (lambda: run().at([[0.1], [0.2]], x), "give a number or a list of numbers"),
    "a time of text": (lambda: run().exactly("1", x), "Trajectory.exactly: time = '1'; give a finite real number"),
    "no runs": (lambda: bs.dynamics.JoinedTrajectory(()), "JoinedTrajectory: no runs came; give at least one"),
    "a run for runs": (lambda: bs.dynamics.JoinedTrajectory(run()), "give a tuple of those"),
    "a joined time of text": (
        lambda: bs.dynamics.JoinedTrajectory((run(),)).first(x, "1"),
        "time = '1'; give a finite real number",
    ),
    "a folder that is missing": (
        lambda: bs.sources.ShippedFiles(Path("/no/folder"), (".txt",)).names(),
        "cannot read the folde",
    ),
    "suffixes of text": (lambda: bs.sources.ShippedFiles(Path(), ".txt"), "suffixes = '.txt'; give a tuple"),
    "a folder that is not a path": (lambda: bs.sources.ShippedFiles(5, (".txt",)), "folder = 5; give a path"),
    "no comment": (lambda: lines(comment=None), "numbered_lines: comment = None; give text"),
    "a text for lines": (lambda: lines("a\nb"), "give a list of lines, such as text.splitlines()"),
    "a line that is a number": (lambda: lines([1]), "a line is 1; give text"),
    "words of a number": (lambda: bs.sources.placed_words(5), "placed_words: line = 5; give text"),
    "a line of text": (
        lambda: bs.sources.Complaints("s").add("1", "what"),
        "line = '1'; give a whole number, at least 0",
    ),
    "lost words that are none": (
        lambda: bs.sources.Complaints("s").add_unread(1, "what", lost=5),
        "lost = 5; give a list of words",
    ),
    "no complaint": (
        lambda: bs.sources.Complaints("s").error(),
        "nothing is wrong with s; ask `found` before the error",
    ),
    "a most of complaints": (lambda: bs.sources.Complaints("s", "9"), "most = '9'; give a whole number, at least 1"),
    "evaluate text": (lambda: bs.formulas.evaluate("x", {}), f"evaluate: expression = 'x'; {FORMULA}"),
    "evaluate at text": (
        lambda: bs.formulas.evaluate(x, {x: "1"}),
        "evaluate: x = '1'; give a real number or an array of them",
    ),
    "evaluate at a list": (lambda: bs.formulas.evaluate(x, [1]), "evaluate: values = [1]; give a mapping"),
    "evaluate at names": (lambda: bs.formulas.evaluate(x, {"x": 1}), "another letter"),
    "evaluate at other shapes": (
        lambda: bs.formulas.evaluate(x + y, {x: [1, 2], y: [1, 2, 3]}),
        "evaluate: shape mismatch",
    ),
    "enclose text": (lambda: bs.formulas.evaluate_ball("x", {}), f"evaluate_ball: expression = 'x'; {FORMULA}"),
    "enclose a matrix": (lambda: bs.formulas.evaluate_ball(sp.ImmutableMatrix([x]), {x: 1}), FORMULA),
    "enclose at infinity": (lambda: bs.formulas.evaluate_ball(x, {x: sp.oo}), REAL),
    "enclose at an imaginary number": (lambda: bs.formulas.evaluate_ball(x, {x: sp.I}), REAL),
    "no bits": (lambda: bs.formulas.evaluate_ball(x, {x: 1}, 0), "bits = 0; give a whole number, at least 2"),
    "a flip that is nan": (
        lambda: bs.checks.beside_flip(bs.Sides(), math.nan, "e"),
        "flip = nan; give a finite real number",
    ),
    "a negative flip": (lambda: bs.checks.beside_flip(bs.Sides(), -1.0, "e"), "flip = -1.0; give a distance >= 0"),
    "a largest of text": (lambda: flip(largest="1"), f"flip_distance: largest = '1'; {POSITIVE}"),
    "parameters in a list": (lambda: flip(parameters=[1]), "parameters = [1]; give tensors by name"),
    "a path of text": (lambda: parameter_path("x"), f"path[x] = 'x'; {FORMULA}"),
    "one small": (lambda: parameter_path(bs.statements.small, 0.1), "smalls = 0.1; give a tuple"),
    "a small of text": (
        lambda: parameter_path(bs.statements.small, ("a",)),
        "one of smalls = 'a'; give a finite real number",
    ),
    "a printed text": (lambda: drafted(printed={"y": "a"}), "own: `printed` of y is 'a'; give a SymPy expression or a"),
    "a printed formula of text": (
        lambda: drafted(printed={"y": bs.statements.Printed("a", bs.statements.Citation(None, ""))}),
        "`printed` of y is 'a'; give a SymPy expression",
    ),
    "a printed list": (lambda: drafted(printed={"y": ["a"]}), "`printed` of y is ['a']; give a SymPy expression"),
    "a printed nan": (lambda: drafted(printed={"y": sp.nan}), "`printed` of y is nan; give a SymPy expression"),
    "a trivial text": (lambda: drafted(trivial={"y": "1"}), "`trivial` of y is '1'; give a SymPy expression"),
    "a worst text": (lambda: drafted(worst={a: "1"}), "`worst` of a is '1'; give a SymPy expression"),
    "a worst of another letter": (
        lambda: drafted(worst={x: 1}),
        "`worst` names x, which is not a letter of a bound; th",
    ),
    "a known text": (lambda: drafted(knows={a: "1"}), "`knows` of a is '1'; give a function of parameters, weights or"),
    "inputs in a list": (lambda: drafted(inputs=[1]), "`inputs` = [1]; give a mapping from names, such as {'x': ...}"),
    "inputs by symbol": (
        lambda: drafted(inputs={x: 1}),
        "`inputs` = {x: 1}; give a mapping from names, such as {'x': ...}",
    ),
    "parameters in a tuple": (lambda: drafted(parameters=(a,)), f"`parameters` = (a,); {SYMBOLS}"),
    "a comparison of a number": (
        lambda: bs.compare(5),
        "5 is not a theorem; give an id, a theorem, or the path of a f",
    ),
    "a loss of text": (lambda: bs.dynamics.gradient_flow("1", (x,)), "got the string '1'; build it from symbols"),
    "a coordinate of text": (
        lambda: bs.dynamics.gradient_flow(x**2, ("1",)),
        "a flow takes symbols as coordinates; got '1'",
    ),
    "a size in a list": (lambda: bs.rules.given("u", dim=3, size=["1"]), "got ['1']; build it from symbols"),
    "a name that is a number": (
        lambda: bs.rules.given(5, dim=3, size=1),
        "given: a value is named 5; give it a name, such",
    ),
    "a smooth text": (lambda: bs.Smooth.of("x", x, radius=1), "expected an expression in x alone, got str"),
    "a law of no quantity": (
        lambda: bs.checks.AsymptoticLaw("q", abs, abs, ()),
        "AsymptoticLaw: quantity = 'q'; give a Q",
    ),
}


def outcome(call: Callable[[], Any]) -> str:
    """What the call says: a refusal as it is, anything else with its type."""
    try:
        return f"gave {call()!r:.80}"
    except UsageError as refusal:
        return str(refusal)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: outcome(call) for name, (call, _) in CALLS.items()}))
