"""What parameters that are not numbers may be: every name that is shipped, and the shapes that a matrix may have."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bridge.machines import machine_files, netlists
from bridge.universal.members import FAMILIES
from symbolic.activations import ACTIVATIONS, LOSSES
from symbolic.induction.training import FLOWS
from symbolic.operations import Second

INPUT = "input"  # of a circuit or a machine: what it reads depends on which one it is
LONGEST = 4  # symbols of an input of a machine
VALUES: Mapping[str, Sequence[Any]] = {
    "activation": tuple(ACTIVATIONS),
    "loss": tuple(LOSSES),
    "family": FAMILIES,
    "flow": tuple(FLOWS),
    "second": tuple(map(str, Second)),
    "netlist": tuple(netlists.shipped()),
    "machine": tuple(machine_files.shipped()),
    "W_star": (0.25, 0.0, 1.0, -1.0, 1e-9, -1e3, "random:1", "signs:4"),
}


def text_values(name: str, params: Mapping[str, Any], rng: np.random.Generator) -> Sequence[Any]:
    """The values of that parameter. Raises KeyError for one of which nothing is known here."""
    return ("", _input(params, rng)) if name == INPUT else VALUES[name]


def _input(params: Mapping[str, Any], rng: np.random.Generator) -> str:
    if "netlist" in params:
        return "".join(rng.choice(["0", "1"], len(netlists.read_circuit(params["netlist"]).inputs)))
    machine = machine_files.read_machine(params["machine"])
    symbols = [symbol for symbol in machine.alphabet if symbol != machine.blank]
    return " ".join(rng.choice(symbols, rng.integers(1, LONGEST + 1))) if symbols else ""
