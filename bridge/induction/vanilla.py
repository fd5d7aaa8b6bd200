"""The study of induction heads: Theorem 4.1 of wang2024 on random, attacked and real prompts."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import as_exact, evaluate_ball
from bridge.budget import BLOCK, Budget
from bridge.cost import Cost
from bridge.files import read_text
from bridge.lowering import Lowered, lower
from bridge.memory import require_memory
from bridge.study import Case, Inputs, Study, torch_device, torch_dtype
from bridge.verdicts import Evidence
from numeric.balls import BallArray, ball_maximum, float_above
from numeric.exact import run_exact
from numeric.induction import vanilla as networks
from numeric.network import Network
from numeric.norms import entrywise_one_norm, infinity_to_one_norm, spectral_norm
from symbolic.induction import vanilla as theory
from symbolic.statements import Quantity, Result, UsageError

CHAIN = ("y", "scores", "attention", "output")
LARGEST_NORM = 1e150  # its square, in a norm, still is a float64
SEARCHES, EXACT_SECONDS = 18, 60.0  # attacks: each quantity in each scope; exact runs that take longer are not tried
WIDEST_SEARCHED = 256  # coordinates: the exact norms of a d x d matrix take a tenth of a second there
VARIANTS = {"output.mask_3": "mask_3", "output.gated": "gated"}  # quantity to construction, beside "masked"


class VanillaCase(Case):
    """Theorem 4.1 at one (p, L, d, W*, leak): inputs are prompts x of shape (B, L, d) in [-1, 1]."""

    result: Result = theory.VANILLA

    def __init__(self, params: dict[str, Any], W_star: np.ndarray, dtype: str, device: str) -> None:
        self.params = params
        self.full_params = {**params, "W_star": W_star.tolist()}
        self.W_star = W_star
        self.p, self.L, self.d = float(params["p"]), int(params["L"]), int(params["d"])
        self.dtype, self.device = torch_dtype(dtype), torch_device(device)
        sizes = [abs(as_exact(float(entry))) for entry in W_star.flat]
        self.values: dict[sp.Symbol, Any] = {
            theory.p: self.p,
            theory.L: self.L,
            theory.d: self.d,
            theory.leak: float(params["leak"]),
            theory.W_norm: sum(sizes),
            theory.W_frobenius: flint.arb(_fmpq(sum(size * size for size in sizes))).sqrt(),
        }
        self.gates = {"masked": math.inf, "mask_3": 0.0, "gated": self._gate()}
        self.constructions = {name: networks.vanilla(self.p, W_star, gate=gate) for name, gate in self.gates.items()}

    def _gate(self) -> float:
        """The gate that keeps the leak in its share, rounded up; infinite (a mask) for W* = 0."""
        if not self.W_star.any():
            return math.inf
        return float_above(evaluate_ball(theory.GATE, {s: as_exact(self.values[s]) for s in theory.GATE.free_symbols}))

    def rounding_estimate(self) -> float:
        # To first order: sums of L weights and of d products, numbers of size 1, scores of size ||W*||_{1,1}.
        return torch.finfo(self.dtype).eps * (self.L + self.d + 16) * (1 + float(self.values[theory.W_norm]))

    def memory(self, budget: Budget) -> int:
        # Of size 2d + 1 a token: about 20 tensors that autograd keeps for each restart, 6 for each measured prompt.
        prompt = 8 * self.L * (2 * self.d + 1)
        return prompt * (20 * budget.restarts + 6 * min(budget.samples, BLOCK) + budget.samples) + 48 * self.d**2

    @cached_property
    def networks(self) -> dict[tuple[str, torch.dtype], Network]:
        """Each construction in the dtype that is measured, and in float64 for the attack."""
        return {
            (name, dtype): Network(construction, dtype=dtype, device=self.device)
            for name, construction in self.constructions.items()
            for dtype in {self.dtype, torch.float64}
        }

    def sample(self, count: int, seed: int) -> Inputs:
        return {"x": networks.random_prompts(self.L, self.d, count, seed, dtype=self.dtype, device=self.device)}

    def starts(self, count: int, seed: int) -> Inputs:
        return {
            "x": networks.prompt_starts(
                self.L, self.d, self.W_star, count, seed, dtype=torch.float64, device=self.device
            )
        }

    def check_inputs(self, inputs: Inputs) -> None:
        x = inputs.get("x")
        if x is None or tuple(x.shape) != (1, self.L, self.d):
            came = "nothing" if x is None else f"shape {tuple(x.shape)}"
            raise UsageError(f"induction.vanilla: expected a prompt x of shape (1, {self.L}, {self.d}), got {came}")
        if not bool((x.abs() <= 1).all()):
            raise UsageError("induction.vanilla: the prompt has entries outside [-1, 1] or that are not numbers")

    def project(self, inputs: Inputs) -> Inputs:
        return {"x": inputs["x"].clamp(-1, 1)}

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        dtype = torch.float64 if attack else self.dtype
        x = inputs["x"].to(dtype)  # (B, L, d)
        wanted = [name for name in names if name in CHAIN]
        target = networks.induction_head_taps(x.double(), self.W_star)
        errors: dict[str, Tensor] = {}
        if wanted:
            taps = [name for name in wanted if name != "output"]
            found = networks.aligned_taps(self.networks["masked", dtype].run(x, taps))
            errors |= {name: _distance(name, found[name].double() - target[name]) for name in wanted}
        for name, variant in VARIANTS.items():
            if name in names:
                output = self.networks[variant, dtype].run(x, [])["output"]
                errors[name] = _distance(name, output.double() - target["output"])
        return errors

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        x = inputs["x"].to(self.dtype)  # (1, L, d)
        point = x[0].double().cpu().numpy()  # (L, d)
        floats = networks.induction_head_taps(x.double(), self.W_star)
        target = networks.induction_head_exact(point, self.W_star, bits)
        target_rounding = {name: _rounding(name, target[name], floats[name][0]) for name in CHAIN}
        found: dict[str, tuple[flint.arb, float]] = {}
        for variant, wanted in self._by_construction(names).items():
            gate = self.gates[variant]
            taps = [name for name in wanted if name != "output"]
            exact = networks.aligned_taps(run_exact(self.constructions[variant], point, bits, taps), gate=gate)
            torch_taps = networks.aligned_taps(self.networks[variant, self.dtype].run(x, taps), gate=gate)
            for name in wanted:
                error = _ball_distance(name, exact[name] - target[name])
                rounding = _rounding(name, exact[name], torch_taps[name][0].double()) + target_rounding[name]
                found[name if variant == "masked" else f"output.{variant}"] = (error, rounding)
        return found

    @staticmethod
    def _by_construction(names: Sequence[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name in names:
            variant = VARIANTS.get(name, "masked")
            groups.setdefault(variant, []).append(name if variant == "masked" else "output")
        return groups

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        if scope == "network" or inputs is None:
            return {theory.omega: self._network_omega}
        x = inputs["x"][0].to(self.dtype).double().cpu().numpy()  # (L, d)
        pull = [abs(sum(as_exact(w) * as_exact(u) for w, u in zip(column, x[-1].tolist(), strict=True)))
                for column in self.W_star.T.tolist()]  # fmt: skip
        return {
            theory.omega: sum(pull),
            theory.diameter: _exact_range(x[:-2]),
            theory.radius: _exact_range(x[1:-1]) / 2,
        }

    @cached_property
    def _network_omega(self) -> Any:
        """sup of ||W*^T x||_1 over the cube, never above the paper's ||W*||_{1,1}."""
        return min(as_exact(infinity_to_one_norm(self.W_star).upper), self.values[theory.W_norm])

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        x = inputs["x"].double()  # (B, L, d)
        W_star = torch.as_tensor(self.W_star, device=x.device)
        at_hand = {
            theory.omega: (x[:, -1] @ W_star).abs().sum(-1),  # (B,)
            theory.diameter: _range(x[:, :-2]),
            theory.radius: _range(x[:, 1:-1]) / 2,
        }
        bound = quantity.general_bound()
        fixed = {symbol: self.values[symbol] for symbol in (theory.p, theory.L) if bound.has(symbol)}
        arguments = [symbol for symbol in (*fixed, *at_hand) if bound.has(symbol)]
        like = x.new_ones(x.shape[0])
        values = {**{s: like * float(v) for s, v in fixed.items()}, **at_hand}
        return _on_tensors(bound, tuple(arguments))(*(values[s] for s in arguments))

    def constants(self) -> dict[str, Evidence]:
        head = self.constructions["masked"].head(2, "match")
        norms = [spectral_norm(weights.dense()) for weights in (head.query, head.key) if weights is not None]
        exact = ball_maximum([flint.arb(norm.lower).union(flint.arb(norm.upper)) for norm in norms])
        return {"weights": Evidence(max(norm.upper for norm in norms), exact=exact)}


@lru_cache(maxsize=64)
def _on_tensors(bound: sp.Expr, arguments: tuple[sp.Symbol, ...]) -> Lowered:
    return lower(bound, "torch", args=arguments)


class VanillaStudy(Study):
    """Theorem 4.1: see `VanillaCase`."""

    result = theory.VANILLA
    main_quantity = "output"
    implied = ("d",)
    through_network = ("W_star", "d")
    searched = MappingProxyType({"d": (1, WIDEST_SEARCHED)})

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> VanillaCase:
        return VanillaCase(*self._resolve(params, seed), dtype, device)

    # The float runs by their entries; the exact runs, a few for each quantity, up to the largest that is tried.
    def cost(self, sizes: Mapping[str, float], budget: Budget | None) -> Cost:
        L, d = sizes["L"], sizes["d"]
        norms = 1e-7 * d**3
        if budget is None:
            return Cost(48 * d**2, norms)
        searched = budget.attack * budget.restarts * SEARCHES
        return Cost(48 * d**2, norms + 1e-8 * (budget.samples + searched) * L * d + min(EXACT_SECONDS, 2e-4 * L * d))

    def text_defaults(self, params: Mapping[str, Any]) -> dict[str, Any]:
        spec = params.get("W_star", 0.25)
        is_matrix = isinstance(spec, list) or (isinstance(spec, str) and spec.strip()[:1] in ("[", "@"))
        return {"p": (2, 4, 8, 16), "L": (256,), "W_star": 0.25, **({} if is_matrix else {"d": 32})}

    def text_case(self, params: Mapping[str, Any], path: str, *, seed: int, dtype: str, device: str) -> VanillaCase:
        from bridge.text import TextCase

        resolved, W_star = self._resolve(params, seed)
        return TextCase(resolved, W_star, dtype, device, path)

    def _resolve(self, params: Mapping[str, Any], seed: int) -> tuple[dict[str, Any], np.ndarray]:
        """The parameters as numbers and W* as a matrix, d following W* where that is one."""
        numbers = {name: self.result.number(name, params[name]) for name in ("p", "L", "d", "leak") if name in params}
        defaults = {parameter.name: parameter.default for parameter in self.result.parameters}
        numbers.setdefault("leak", defaults["leak"])
        spec = params.get("W_star", defaults["W_star"])
        W_star = read_similarity(spec, int(numbers["d"]) if "d" in numbers else None, seed, int(defaults["d"]))
        resolved = {**numbers, "d": len(W_star)}
        self.result.check(resolved)
        if numbers.get("p", 0) * numbers.get("L", 0) > LARGEST_NORM:
            raise UsageError(f"{self.result.id}: p L is beyond {LARGEST_NORM:g}, where the position bias overflows")
        shown = spec if isinstance(spec, int | float | str) else f"{len(W_star)} x {len(W_star)} matrix"
        return {**{name: resolved[name] for name in ("p", "L", "d")}, "W_star": shown, "leak": resolved["leak"]}, W_star


def read_similarity(spec: Any, d: int | None, seed: int, default_d: int) -> np.ndarray:
    """W* from what the user gave: a number w (w I), nested lists or JSON of them, @FILE, random:NORM or signs:NORM."""
    if isinstance(spec, str):
        spec = _parse_similarity(spec)
    size = d if d is not None else default_d
    require_memory(f"induction.vanilla: d = {size}", 48 * size**2, "lower d")
    if size < 1:
        raise UsageError(f"induction.vanilla: d = {size} does not meet d >= 1 (tokens need a coordinate).")
    if isinstance(spec, _Seeded):
        return spec.matrix(size, seed)
    try:
        matrix = np.array(_numbers(spec), dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise UsageError(
            f"W_star: rows of different lengths, or entries that are not numbers, in {spec!r:.80}"
        ) from None
    if not np.isfinite(matrix).all():
        raise UsageError("W_star has an entry that is not finite; every entry has to be a number")
    if float(np.abs(matrix).max(initial=0.0)) * max(matrix.size, size) > LARGEST_NORM:
        raise UsageError(
            f"W_star: the sum of its absolute values is beyond {LARGEST_NORM:g}, where float64 scores overflow"
        )
    if matrix.ndim == 0:
        return float(matrix) * np.eye(size)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise UsageError(f"W_star has shape {matrix.shape}; it compares two tokens and has to be square, d x d")
    if d is not None and matrix.shape[0] != d:
        raise UsageError(f"W_star is {matrix.shape[0]} x {matrix.shape[0]} but d = {d}; leave d out or make them agree")
    return matrix


def _numbers(spec: Any) -> Any:
    """Nested lists of numbers as they are; anything else (a string, true, null) raises TypeError."""
    if isinstance(spec, list | tuple):
        return [_numbers(entry) for entry in spec]
    if isinstance(spec, bool | str) or spec is None:
        raise TypeError(f"{spec!r} is not a number")
    return spec


def _parse_similarity(text: str) -> Any:
    seeded = re.fullmatch(r"(random|signs):(.+)", text.strip())
    if seeded:
        return _Seeded(seeded[1], _positive(seeded[2], text))
    source = read_text(text[1:], "W_star") if text.startswith("@") else text
    try:
        return json.loads(source)
    except (ValueError, RecursionError) as error:
        where = (
            f"{error.msg} at character {error.pos}"
            if isinstance(error, json.JSONDecodeError)
            else "too deep or too long"
        )
        raise UsageError(
            f"W_star = {text!r:.60} is not understood ({where}); give a number w for w I, "
            f"a JSON matrix such as [[1, 0], [0, 1]], @FILE with one, random:NORM or signs:NORM"
        ) from None


def _positive(text: str, whole: str) -> float:
    try:
        norm = float(text)
    except ValueError:
        norm = math.nan
    if not 0 < norm <= LARGEST_NORM:
        raise UsageError(
            f"W_star = '{whole}': NORM has to be a positive number of at most {LARGEST_NORM:g}, the sum of the "
            "absolute values"
        )
    return norm


@dataclass(frozen=True)
class _Seeded:
    """A similarity drawn from a seed: Gaussian entries or signs; their absolute values sum to at most `norm`."""

    kind: str
    norm: float

    def matrix(self, size: int, seed: int) -> np.ndarray:
        generator = np.random.default_rng(seed)
        signs = generator.choice([-1.0, 1.0], (size, size))
        matrix = signs if self.kind == "signs" else generator.standard_normal((size, size))
        return matrix * (self.norm * (1 - 1e-15) / entrywise_one_norm(matrix).upper)


def _distance(name: str, difference: Tensor) -> Tensor:
    """The quantity's norm: 1-norm for attention weights, sup norm (over tokens too) for the others."""
    sizes = difference.abs().flatten(start_dim=1)  # (B, ...)
    return sizes.sum(-1) if name == "attention" else sizes.amax(-1)


def _ball_distance(name: str, difference: BallArray) -> flint.arb:
    return difference.one_norm() if name == "attention" else difference.sup_norm()


def _rounding(name: str, exact: BallArray, floats: Tensor) -> float:
    """The distance of the two interpreters, rounded up."""
    return float_above(_ball_distance(name, exact - floats.cpu().numpy()))


def _range(tokens: Tensor) -> Tensor:
    return (tokens.amax(1) - tokens.amin(1)).amax(-1)  # (B,)


def _exact_range(tokens: np.ndarray) -> Any:
    highest, lowest = tokens.max(axis=0), tokens.min(axis=0)
    return max(as_exact(float(h)) - as_exact(float(l)) for h, l in zip(highest, lowest, strict=True))  # noqa: E741


def _fmpq(fraction: Any) -> flint.fmpq:
    return flint.fmpq(fraction.numerator, fraction.denominator)
