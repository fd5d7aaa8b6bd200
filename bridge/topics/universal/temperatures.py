"""What a format holds of the temperatures of the transformer (li2025, A.4): the best ones, and refusals in words."""

import math
from collections.abc import Mapping
from typing import Any

import sympy as sp

from bridge.limits.run import FORMATS, INFO
from bridge.theorems.numbers import plain
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from symbolic.topics.universal import transformer_derivation as theory
from symbolic.words.errors import UsageError

CHOSEN = ("tau_1", "tau_2")


def recommended(numbers: Mapping[str, Any], dtype: str) -> dict[str, float]:
    """The temperatures for these bits, as far as the weights stay in the range of the format."""
    found: dict[str, float] = {}
    for name, tau, weight in zip(CHOSEN, theory.best_temperatures(), theory.LARGEST_WEIGHTS, strict=True):
        most = INFO[dtype].max / float(at_numbers(weight, {**numbers, name: 1}))
        best = tau.xreplace({s: sp.Float(numbers[s.name]) for s in tau.free_symbols})  # exact logarithms take long
        found[name] = min(float(best), 2.0 ** math.floor(math.log2(most)))
    return found


def at_numbers(formula: sp.Expr, numbers: Mapping[str, Any]) -> sp.Expr:
    return formula.xreplace({s: sp.Rational(numbers[s.name]) for s in formula.free_symbols})


def _bits_to_hold(name: str, tau: float, numbers: Mapping[str, Any]) -> int:
    needed = dict(zip(CHOSEN, theory.bits_to_hold(), strict=True))[name]
    return int(at_numbers(needed, {**numbers, name: tau}))


def require_held(id: str, temperatures: Mapping[str, float], numbers: Mapping[str, Any]) -> None:
    """Raises UsageError for a temperature with which the rounding of `bits` bits exceeds what a block computes."""
    for name, tau in temperatures.items():
        least = _bits_to_hold(name, tau, numbers) if tau > 0 else 0
        if least > numbers["bits"]:
            raise UsageError(
                f"{id}: {name} = {plain(tau)} is beyond the format: what a block computes needs {least} bits to exceed "
                f"its rounding, the format has {numbers['bits']}; take a smaller {name}, or bits = {least} or more"
            )


def refusal(N: int, n: int, B: float, bits: int, tau_1: float, tau_2: float, dtype: str) -> Refusal | None:
    """What the format of the run does not hold: it decides, whatever bits the temperatures are chosen for."""
    numbers = {"N": N, "n": n, "B": B, "bits": bits, "tau_1": tau_1, "tau_2": tau_2}
    reasons = (_overflow(numbers, dtype), _nothing_held(numbers, dtype), _contradiction(numbers, dtype))
    found = next(filter(None, reasons), None)
    return None if found is None else Refusal(Verdict.NOT_REPRESENTABLE, found)


def _overflow(numbers: Mapping[str, Any], dtype: str) -> str:
    most = INFO[dtype].max
    for name, layer, weight in zip(CHOSEN, ("Attn1", "Attn2"), theory.LARGEST_WEIGHTS, strict=True):
        largest = at_numbers(weight, numbers)
        if largest > most:
            exponents = (int(theory.exponent_bits(sp.Rational(each))) for each in (largest, most))
            return (
                f"V of {layer} holds {sp.sstr(weight)} = {float(largest):.7g}, and {dtype} ends at {most:.7g}: "
                "that takes {} bits of exponent, and it has {}".format(*exponents)
                + f"; {name} = {plain(recommended({**numbers, name: 1}, dtype)[name])} is within it"
            )
    return ""


def _nothing_held(numbers: Mapping[str, Any], dtype: str) -> str:
    least, bits = int(at_numbers(theory.bits_of_a_block(), numbers)), min(numbers["bits"], FORMATS[dtype])
    return (
        f"{bits} bits hold nothing of a block at any tau: residual and rounding exceed what it computes; that takes "
        f"{least} bits"
        if least > bits
        else ""
    )


def _contradiction(numbers: Mapping[str, Any], dtype: str) -> str:
    least = {name: _bits_to_hold(name, numbers[name], numbers) for name in CHOSEN}
    beyond = [
        f"{name} = {plain(numbers[name])} takes {bits} bits" for name, bits in least.items() if bits > FORMATS[dtype]
    ]
    return (
        f"{', '.join(beyond)} for the rounding of a block to stay below what it computes: that suits "
        f"bits = {numbers['bits']}, but the run is in {dtype}, whose {FORMATS[dtype]} bits decide; leave out bits and "
        f"tau, or give bits = {FORMATS[dtype]}"
        if beyond
        else ""
    )
