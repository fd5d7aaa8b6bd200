"""Appendix C: the transformer beside the reference simulator, step by step; its sizes and norms beside the counts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch

from bridge.limits.run import Format
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Sides, checks_of
from bridge.theorems.numbers import plain
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.machines.machine_files import read_machine, tokens_of
from bridge.topics.machines.turing_costs import cost, cost_table, letters, sizes
from bridge.topics.machines.turing_errata import DEFINITIONS
from bridge.topics.machines.turing_leak import LEAK_STEPS, measured_leak
from bridge.topics.machines.turing_runs import INPUTS, MachineRuns, drawn_runs, task_of, trace_table
from numeric.topics.machines.beside_simulator import TuringTask
from numeric.topics.machines.machine import TuringMachine, simulate
from numeric.topics.machines.simulation import SimulatingDecoder
from numeric.topics.machines.transformer import simulating_decoder
from symbolic.topics.machines import temperature
from symbolic.topics.machines import turing as theory
from symbolic.words.errors import UsageError

TAPS = {"location": ("location", "next_location")}  # of the quantities whose taps have other names; search: search[j]
OURS = "the network that differs is the one built here"
HALVINGS, HALVED_UP_TO = 6, 256  # of the inverse temperature, to see how much it has to spare; steps that are run so

Runs = Callable[[int, int, str, str], MachineRuns]  # by samples, seed, dtype, device; each is made once


def resolve(params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The input of an included machine where none is given; for T = 0 the steps that it takes. Raises UsageError."""
    numbers, machine = theory.TURING.numbers(params), params.get("machine", theory.TURING.parameter("machine").default)
    theory.TURING.check(numbers)
    text = params.get("input", INPUTS.get(machine, ""))
    return {**params, "input": text, "T": task_of(machine, text, int(numbers["T"])).T}


def runs(
    machine: TuringMachine, input: tuple[str, ...], T: int, work: int, eps: float, network: SimulatingDecoder
) -> Runs:
    task = TuringTask(machine, machine.name, input, simulate(machine, input, T))
    return cache(partial(drawn_runs, task, network, work, eps))


# A rounded bit 3 phi(z - 1/3) - 3 phi(z - 2/3) is off by at most 6u (u the unit roundoff: terms of size 2 and 1, each
# rounded twice), a sign 2x - 1 by 13u, a product of two signs by 27u, a score of 2 w_pos + 1 of them by as many times
# that and its own summation. Scores differ by 1, so that each may be off by less than 1/2.
def require_precision(network: SimulatingDecoder, dtype: str) -> None:
    """Raises UsageError for a format in which rounding may change which score is the largest."""
    products = 2 * network.w_pos + 1
    error = products * (27 + products) * torch.finfo(Format.named(dtype).dtype).eps / 2
    if error >= 0.5:
        raise UsageError(
            f"{theory.TURING.id}: in {dtype} a score of {products} products may have an error of {plain(error)}, and "
            f"scores differ by 1; use --dtype float32"
        )


# Agreement. The network is ours: what is printed may hold of the paper's, whatever ours does.


def agreement(wrong: int, place: str, remark: str = "") -> Sides:
    """0 where network and simulator agree; `place` says where they first do not."""
    remarks = [place, remark, OURS] if wrong else [remark]
    return Sides(None if wrong else 0, measured=float(wrong), remark="; ".join(filter(None, remarks)))


def at_each_step(ran: MachineRuns, name: str) -> Sides:
    taps = list(TAPS.get(name, (name,)))
    if name == "search":
        taps = [tap for tap in ran.network.decoder.taps if tap.startswith("search[")]
    return agreement(max(ran.hard.agreement.differences[tap] for tap in taps), ran.hard.first_difference(taps))


def answer(ran: MachineRuns) -> Sides:
    return agreement(ran.hard.answers, ran.hard.first_answer, f"{ran.hard.halted} of the inputs halt")


def rounding(ran: MachineRuns) -> Sides:
    return Sides(measured=ran.hard.agreement.rounding)


# The temperature is ours as well: in float64 a difference refutes it (in shorter formats rounding may cause one).
def softmax(ran: MachineRuns) -> Sides:
    wrong = ran.soft.differences + ran.soft.answers
    place = ran.soft.first_difference(list(ran.soft.agreement.differences)) or ran.soft.first_answer
    sides = agreement(wrong, place, f"`beta = {plain(ran.beta)}` for `n = {ran.keys}` keys")
    return replace(sides, found=wrong if ran.dtype == "float64" else sides.found, derived=0)


def leak(ran: MachineRuns) -> Sides:
    at = {temperature.keys: ran.keys, temperature.inverse_temperature: ran.beta}
    bound = evaluate_ball(theory.TURING.quantity("leak").general_bound(), at)
    found = measured_leak(ran.network, ran.task.tokens, ran.beta, torch.device(ran.device))
    steps = f"measured in float64 over {min(ran.network.steps, LEAK_STEPS)} steps of the input"
    return Sides(found, derived=bound, remark=f"`beta = {plain(ran.beta)}` for `n = {ran.keys}` keys; {steps}")


def inverse_temperature(ran: MachineRuns) -> Sides:
    """Kept if all inputs agree at the computed one."""
    least = "measured: the least of `beta`, `beta/2`, `beta/4`, ... at which the input is exact"
    return Sides(
        measured=least_exact(ran),
        derived=ran.beta,
        computed=() if ran.soft.differences else ("derived",),
        remark=f"`n = {ran.keys}`; {least}",
    )


def least_exact(ran: MachineRuns) -> float | None:
    """None where even beta fails, and where the runs would take long."""
    least, beta = None, ran.beta
    for _ in range(HALVINGS if ran.task.T <= HALVED_UP_TO else 0):
        if ran.on_the_input(beta).differences:
            break
        least, beta = beta, beta / 2
    return least


# The theorem.


def judged(sides: Callable[..., Sides], **fixed: str) -> Callable[..., Sides]:
    """The sides read off the runs of these settings, which the row names."""

    def of_settings(runs: Runs, samples: int, seed: int, dtype: str, device: str) -> Sides:
        ran = runs(samples, seed, dtype, device)
        found = sides(ran, **fixed)
        return replace(found, samples=len(ran.inputs), remark="; ".join(filter(None, [found.remark, ran.words])))

    return of_settings


def trace(runs: Runs, samples: int, seed: int, dtype: str, device: str) -> NamedTable:
    return trace_table(runs(samples, seed, dtype, device))


SIDES: Mapping[str, Callable[..., Sides]] = {
    **{quantity.name: judged(at_each_step, name=quantity.name) for quantity in theory.STEPS},
    **{each.__name__: judged(each) for each in (answer, rounding, softmax, leak, inverse_temperature)},
    **{quantity.name: cost(quantity) for quantity in theory.COSTS},
}
CHECKS = {each.name: each for each in DEFINITIONS}
CHECKS |= {each.name: each for each in checks_of(theory.TURING, SIDES)}
TURING = Theorem(
    theory.TURING,
    main="answer",
    knobs=Knobs(resolve=resolve, implied=("input",), fixed=("T", "work")),
    readers={
        "machine": lambda machine: read_machine(machine),
        "input": lambda input, machine: tokens_of(machine, input),
    },
    built={"network": lambda machine, T: simulating_decoder(machine, T), "runs": runs, "sizes": sizes},
    at_point=AtPoint(letters=letters, refusal=require_precision),
    checks=tuple(CHECKS[quantity.name] for quantity in theory.TURING.quantities),
    tables=(trace, cost_table),
)
