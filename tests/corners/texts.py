"""What parameters that are not numbers may be: every name that is shipped, and the shapes that a matrix may have."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bridge.topics.machines import machine_files, netlists
from bridge.topics.universal.members import FAMILIES
from symbolic.calculus.activations import ACTIVATIONS, LOSSES
from symbolic.calculus.heads import Second
from symbolic.topics.induction.training import FLOWS

INPUT = "input"  # of a circuit or a machine: what it reads depends on which one it is
LONGEST = 4  # symbols of an input of a machine
VALUES: Mapping[str, Sequence[Any]] = {
    "activation": tuple(ACTIVATIONS),
    "loss": tuple(LOSSES),
    "weights": ("1/2, 3/10, 1/5", "1", "1/2, 1/2", "0.999, 0.001", "1e-9, 0.999999999"),
    "targets": ("scores", "denoising"),
    "depths": ("1, 2", "1, 2, 3", "2,4"),
    "trained": ("",),
    "source_text": ("",),
    "target_text": ("",),
    "family": FAMILIES,
    "flow": tuple(FLOWS),
    "icgd.softmax_step.activation": ("linear", *ACTIVATIONS),
    "map": ("others",),
    "second": tuple(str(each) for each in Second if each is not Second.NONE),
    "netlist": tuple(netlists.shipped()),
    "machine": tuple(machine_files.shipped()),
    "machines.margin.netlist": ("majority5", "c17"),  # others are wider than what the attack takes
    "g": ("exp(-(u-v)^2/2)", "exp(-abs(u-v))", "(1+u*v)^3", "exp(u-2*v)+u*sin(3*v)", "-2*(u-v)^2", "u-u"),
    "induction.patches.g": ("exp(-(u-v)^2/2)", "exp(-abs(u-v))", "cos(2*(u-v))", "-2*(u-v)^2", "u-u"),
    "W_star": (0.25, 0.0, 1.0, -1.0, 1e-9, -1e3, "random:1", "signs:4"),
}


def text_values(id: str, name: str, params: Mapping[str, Any], rng: np.random.Generator) -> Sequence[Any]:
    """The values of that parameter of a result. Raises KeyError for one of which nothing is known here."""
    if name == INPUT:
        return "", _input(params, rng)
    return VALUES.get(f"{id}.{name}") or VALUES[name]


def _input(params: Mapping[str, Any], rng: np.random.Generator) -> str:
    if "netlist" in params:
        return "".join(rng.choice(["0", "1"], len(netlists.read_circuit(params["netlist"]).inputs)))
    machine = machine_files.read_machine(params["machine"])
    symbols = [symbol for symbol in machine.alphabet if symbol != machine.blank]
    return " ".join(rng.choice(symbols, rng.integers(1, LONGEST + 1))) if symbols else ""
