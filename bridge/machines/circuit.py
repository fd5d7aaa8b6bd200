"""The study of circuits: the network against direct evaluation, its norms and sizes beside the printed ones."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np

from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.machines.circuit_tables import (
    KINDS,
    WIDEST_DENSE,
    Sizes,
    circuits_table,
    measured_sizes,
)
from bridge.machines.netlists import bits_of, read_circuit, shipped
from bridge.record import NamedTable, Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.machines.circuit import GATE_WEIGHTS, CircuitNetwork
from numeric.machines.gates import LayeredCircuit, all_inputs
from symbolic.machines import circuit as theory
from symbolic.statements import Kind, UsageError

MOST_BITS = 16  # all inputs are run up to here, random ones beyond


def gates_norm(layered: LayeredCircuit) -> float:
    """Sum over i of |theta_i|_1, from how many gates there are of each kind."""
    return sum(layered.count(kind) * GATE_WEIGHTS[kind].norm for kind in KINDS)


@cache
def gates_are_the_papers() -> bool:
    """Whether the network's gates have the parameters that the printed nets have."""
    nets = {kind: theory.gate_net(kind.value) for kind in KINDS}
    return all(
        (*weights.w1, weights.b1, weights.w2, weights.b2) == (*map(float, (*net.w1, net.b1, net.w2, net.b2)),)
        for kind, net in nets.items()
        for weights in [GATE_WEIGHTS[kind]]
    )


class CircuitCase(DirectCase):
    """One circuit and its network."""

    def __init__(self, result: Any, params: Mapping[str, Any], *, dtype: str = "float64", device: str = "cpu"):
        super().__init__(result, params, dtype=dtype, device=device)
        self.circuit = read_circuit(params["netlist"])
        self.layered = self.circuit.layered()
        self.uses = frozenset({"dtype"} if self.runs_all_inputs else {"dtype", "samples", "seed"})
        self.network = CircuitNetwork(self.layered, rounding=bool(params["rounding"]))
        if params["input"]:
            bits_of(result.id, params["input"], self.layered.m)
        layered = self.layered
        sizes = {theory.q: layered.q, theory.r: layered.r, theory.s: layered.s, theory.m: layered.m}
        self.values |= {**sizes, theory.r_last: len(layered.layers[-1])}

    @cached_property
    def sizes(self) -> Sizes | None:
        return measured_sizes(self.network) if self.layered.r <= WIDEST_DENSE else None

    def rows(self, budget: Budget) -> list[Row]:
        return [
            self.outputs_row(budget),
            self._size_row("layer_norm", self._counted("per_gate"), self._largest_per_gate()),
            self._total_norm_row(self._counted("gates")),
            self._size_row("rounding_norm", self._counted("rounding")),
            self._size_row("depth", self._counted("depth")),
            self._size_row("width", self._counted("width")),
        ]

    def _counted(self, size: str) -> float | None:
        return None if self.sizes is None else float(getattr(self.sizes, size))

    # Outputs.

    @property
    def runs_all_inputs(self) -> bool:
        return self.layered.m <= MOST_BITS

    def inputs_run(self, budget: Budget) -> np.ndarray:
        """All inputs (N, m) of up to MOST_BITS bits, else as many random ones as the budget has samples."""
        m = self.layered.m
        if self.runs_all_inputs:
            return all_inputs(m)
        return np.random.default_rng(budget.seed).integers(0, 2, (budget.samples, m)).astype(bool)

    def wrong(self, bits: np.ndarray) -> np.ndarray:
        """At which of the inputs some output of the network is not exactly that of the gates."""
        answers = self.network.run(bits, self.dtype, self.device).cpu().double().numpy()
        stray: np.ndarray = (answers != 2.0 * self.circuit.evaluate(bits) - 1.0).any(axis=1)
        return stray

    def outputs_row(self, budget: Budget) -> Row:
        bits = self.inputs_run(budget)
        wrong = int(self.wrong(bits).sum())
        expected = int(self.result.quantity("outputs").closed_form)
        verdict = Verdict.PROVED if wrong == 0 == expected and gates_are_the_papers() else Verdict.UNDECIDED
        scope = "all" if self.runs_all_inputs else "random"
        dtype = str(self.dtype).removeprefix("torch.")
        row = direct_row(
            self,
            self.result.quantity("outputs"),
            {"printed": verdict, "derived": verdict},
            printed=0.0,
            derived=float(expected),
            measured=float(wrong),
            remark=f"the net of each gate and round proved on bits; run on {scope} {len(bits)} inputs in {dtype}"
            + (f", all {len(self.circuit.outputs)} outputs exact" if wrong == 0 else f", wrong on {wrong} of them"),
        )
        row.samples, row.seed = len(bits), budget.seed
        return row

    # Sizes.

    def _largest_per_gate(self) -> float:
        return max(
            sum(GATE_WEIGHTS[kind].norm for kind in layer.kinds) / len(layer) for layer in self.layered.layers[1:]
        )

    def _number(self, expression: Any) -> float:
        return float(self.ball(expression))

    def _size_row(self, name: str, measured: float | None, instance: float | None = None) -> Row:
        """A printed order is consistent with any constant; the derived bound is a count of the construction."""
        quantity = self.result.quantity(name)
        assert quantity.printed is not None
        derived = self._number(quantity.closed_form)
        exact = quantity.kind is Kind.EXACT
        held = measured is None or (measured == derived if exact else measured <= derived)
        proved = held and gates_are_the_papers()
        verdicts = {
            "printed": Verdict.CONSISTENT if proved else Verdict.UNDECIDED,
            "derived": Verdict.PROVED if proved else Verdict.UNDECIDED,
        }
        printed = self._number(quantity.printed.bound)
        ratio = f"printed inside {quantity.printed.order}(.); measured / printed = {plain((measured or 0) / printed)}"
        return direct_row(
            self,
            quantity,
            verdicts if instance is None else {**verdicts, "instance": verdicts["derived"]},
            printed=printed,
            derived=derived,
            instance=instance,
            measured=measured,
            remark=ratio if measured is not None else f"layers of more than {WIDEST_DENSE} gates are not written out",
        )

    def _total_norm_row(self, measured: float | None) -> Row:
        """The printed s against the parameters of f_1, ..., f_{q-1}."""
        quantity, norm = self.result.quantity("total_norm"), gates_norm(self.layered)
        printed, derived = float(self.layered.s), self._number(quantity.closed_form)
        agrees = gates_are_the_papers() and measured in (None, norm) and norm <= derived
        exceeded = agrees and norm > printed
        own = Verdict.PROVED if agrees else Verdict.UNDECIDED
        judged = Verdict.VIOLATED if exceeded else Verdict.KEPT if agrees else Verdict.UNDECIDED
        return direct_row(
            self,
            quantity,
            {"printed": judged, "derived": own, "instance": own},
            printed=printed,
            derived=derived,
            instance=norm,
            measured=measured,
            witness=self._circuit_as_witness(norm, printed) if exceeded else None,
        )

    def _circuit_as_witness(self, norm: float, printed: float) -> Witness:
        """The circuit is the witness, and its parameter `netlist` names it."""
        return Witness(
            result=self.result.id,
            quantity="total_norm",
            params=self.full_params,
            inputs={},
            error_lower=norm,
            bounds={"printed": printed},
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name != "total_norm":
            return super().replay_check(name, inputs)
        if inputs:
            raise UsageError(
                f"{self.result.id}: '{name}' takes no inputs, as netlist is the circuit; got {', '.join(inputs)}"
            )
        return self._total_norm_row(self._counted("gates"))

    def tables(self) -> list[NamedTable]:
        """The outputs at the given input; the sizes of this circuit, those of a shipped one beside the others."""
        named = {self.circuit.name: self.circuit}
        if self.circuit.name in shipped():
            named = {name: read_circuit(name) for name in shipped()}
        sizes = circuits_table(named, bool(self.params["rounding"]))
        return [self._outputs_at(str(self.params["input"])), sizes] if self.params["input"] else [sizes]

    def _outputs_at(self, given: str) -> NamedTable:
        bits = bits_of(self.result.id, given, self.layered.m)[None]
        answers = self.network.run(bits, self.dtype, self.device)[0].tolist()
        direct = self.circuit.evaluate(bits)[0].tolist()
        return NamedTable(
            title=f"outputs at {given}: gates 0 or 1, network -1 or 1",
            columns=["output", "gates", "network"],
            rows=[
                [name, int(bit), answer]
                for name, bit, answer in zip(self.circuit.outputs, direct, answers, strict=True)
            ],
        )


class CircuitStudy(Study):
    """Lemma B.1 and Lemma 3.3 for one circuit."""

    result = theory.CIRCUIT
    main_quantity = "outputs"
    fixed = ("rounding",)

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> CircuitCase:
        return CircuitCase(self.result, self.resolved(params), dtype=dtype, device=device)
