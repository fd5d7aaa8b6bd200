"""Lemmas 2-6, Theorem 1 and Theorem 5 of wu2024 as theorems: one projected gradient step in context.

Inputs are w (D_w), x (n, d_x), y (n, d_y). Random w are uniform in the box W at even places and at random corners of it
at odd ones, where rows have norm B_v. The attack moves prompts with one token: the gradient is a mean over tokens, so
that no prompt errs more than its worst token alone.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from bridge.instances.bindings import LOCAL
from bridge.limits.cost import Cost, Count, Work
from bridge.readings.arrays import Array
from bridge.theorems.check import Check
from bridge.theorems.numbers import plain
from bridge.theorems.parts import AtPoint, ExactRuns, InputSearch, Knobs, Refuting
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.theorem import Function, Theorem
from bridge.topics.icgd import counts
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.emulation import FEWEST_RELUS, Emulation
from bridge.topics.icgd.gradient import prompt_domains
from bridge.topics.icgd.knobs import NotRepresentable
from bridge.topics.icgd.plan import plan_for
from bridge.topics.icgd.refutations import OPEN_SIZES, REFUTATIONS
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.table import table_of
from bridge.topics.icgd.values import derived_letters, norms, printed_letters
from numeric.tools.layered import Shape
from symbolic.calculus.activations import activation as activation_named
from symbolic.calculus.activations import loss as loss_named
from symbolic.statements.result import Quantity, Result
from symbolic.topics.icgd import step as theory
from symbolic.topics.icgd import symbols

WHOLE_STEP = ("icgd.step", "icgd.dimensions")
SHORT_RANGES = ("icgd.forward", "icgd.derivative")  # Lemmas 2 and 3, which print ranges of their own
LONG_DERIVATIONS = (*WHOLE_STEP, "icgd.backward")  # each layer's signal has a chain of its own
LEADING = "gradient"  # of the step, at both scopes of a prompt: the others are shown where it errs most
SIZES = ("range_r", "range_r1", "range_u", "size_s")  # of the network itself: what has to be covered
MAIN = {
    "icgd.forward": "p[1]",
    "icgd.derivative": "r'[1]",
    "icgd.loss_gradient": "g",
    "icgd.backward": "s[1]",
    "icgd.step": LEADING,
    "icgd.dimensions": LEADING,
}
SEARCHED: Mapping[str, tuple[int | float | None, int | float | None]] = MappingProxyType(
    {
        **dict.fromkeys(("relus", "relus_r1"), (FEWEST_RELUS, 1 << 15)),  # half a second of certifying a function
        "eps": (1e-7, None),
        **dict.fromkeys(("B_v", "B_x", "B_y", "R"), (None, 1 << 5)),
        **dict.fromkeys(("K", "d", "d_x", "d_y"), (None, 1 << 20)),
    }
)
MEBIBYTE = 2**20


# The problem and the network.


def setting(
    N: int, K: int, d_x: int, d_y: int, B_v: float, B_x: float, B_y: float, eta: float, activation: str, loss: str
) -> StepSetting:
    return StepSetting(Shape(N, K, d_x, d_y), activation_named(activation), loss_named(loss), B_v, B_x, B_y, eta)


DEFAULTS = {parameter.name: parameter.default for parameter in theory.STEP_PARAMETERS}
UNNAMED: Mapping[str, Function] = {  # what a lemma does not mention is as in Theorem 1's defaults
    "d_x": lambda d: d,
    "d_y": lambda d: d,
    "B_y": lambda: DEFAULTS["B_y"],
    "eta": lambda: DEFAULTS["eta"],
    "loss": lambda: DEFAULTS["loss"],
}


def emulation(plan: Any) -> Emulation | None:
    return plan if isinstance(plan, Emulation) else None


def refusal(plan: Any) -> Refusal | None:
    if isinstance(plan, NotRepresentable):
        return Refusal(Verdict.NOT_REPRESENTABLE, plan.reason)
    return plan if isinstance(plan, Refusal) else None


def taps(w: Array, x: Array, y: Array, emulation: Emulation) -> dict[str, Array]:
    found = emulation.run(w, x, y)
    return found | sizes(emulation.setting.shape, found, w, x, y)


def sizes(shape: Shape, taps: Mapping[str, Array], w: Array, x: Array, y: Array) -> dict[str, Array]:
    """What a range or a size has to cover, of the network itself."""
    layers = range(1, shape.N + 1)
    p = [x, *(taps[f"p[{j}]"] for j in layers)]
    scores = torch.cat([(p[j] @ V.mT).flatten() for j, V in enumerate(shape.matrices(w))])
    outputs = torch.cat([p[-1].flatten(), y.flatten()])
    signals = torch.cat([taps[f"s[{j}]"].flatten() for j in layers])
    return {"range_r": scores, "range_r1": scores, "range_u": outputs, "size_s": signals}


def reference(w: Array, x: Array, y: Array, chain: Chain) -> dict[str, Array]:
    """The exact taps, and 0 for each size."""
    found = chain.values(w, x, y)
    covered = sizes(chain.setting.shape, found, w, x, y)
    return found | {name: torch.zeros_like(each) for name, each in covered.items()}


def envelope(w: Tensor, x: Tensor, y: Tensor, chain: Chain) -> dict[str, Tensor]:
    """What the taps would be if every secant erred as in the middle of its cell: smooth in the inputs."""
    found = chain.values(w, x, y, functions=chain.envelopes)
    return found | sizes(chain.setting.shape, found, w, x, y)


def operands(w: Array, x: Array, y: Array, chain: Chain) -> dict[str, Any]:
    return chain.operands(w, x, y, chain.functions)


# Inputs.


def random_prompts(count: int, generator: torch.Generator, setting: StepSetting, n: int) -> dict[str, Tensor]:
    drawn = setting.prompts(n, count, generator.initial_seed())
    box = torch.as_tensor(setting.shape.box(setting.B_v), dtype=torch.float64, device="cpu")  # (D_w)
    odd = torch.arange(count, dtype=torch.int64, device="cpu")[:, None] % 2 == 1  # (count, 1)
    return {**drawn, "w": torch.where(odd, torch.where(drawn["w"] < 0, -box, box), drawn["w"])}


def one_token(count: int, generator: torch.Generator, setting: StepSetting) -> dict[str, Tensor]:
    return setting.starts(1, count, generator.initial_seed())


# Bounds.


def outside(quantity: str, tier: str, plan: Any) -> str:
    """Which bounds do not hold where arguments leave the range on which sums of ReLUs are certified."""
    if tier == "printed" or not isinstance(plan, Emulation) or not plan.short:
        return ""
    of_layer = re.fullmatch(r"(p|r')\[(\d+)\]", quantity)
    reach = plan.reach(int(of_layer[2]) if of_layer else plan.setting.shape.N)
    if reach <= plan.r.radius:
        return ""
    return (
        f"hypothesis violated: the sums of ReLUs are certified on `[-R, R]` with `R = {plan.r.radius!r}`, and the "
        f"arguments of `r` and `r'` can reach {plain(reach, 'derived', 'upper')}"
    )


def idle(relus: int) -> tuple[str, ...]:
    return ("eps",) if relus else ()


def with_scopes(result: Result, N: int, relus: int) -> tuple[Quantity, ...]:
    """The quantities of so many layers, and of an accuracy if one was asked for."""
    kept = theory.quantities_for(result, N)
    return tuple(_with_scopes(result, each) for each in kept if not (each.name.endswith(".requested") and relus))


def _with_scopes(result: Result, quantity: Quantity) -> Quantity:
    if quantity.name in SIZES:
        return replace(quantity, scopes=("network",))
    if not quantity.scopes:
        return quantity
    shown = result.id in WHOLE_STEP and quantity.name != LEADING  # both scopes of it are in a result of its own
    return replace(quantity, scopes=("network", LOCAL) if shown else ("network", "prompt", LOCAL))


# What it takes.


def work(N: Count, K: Count, d_x: Count, d_y: Count, n: Count, *, result: str) -> Work:
    """About 40 tensors of each token's neurons, and the weights in some copies; bounds are derived layer by layer."""
    wide = max(K, d_x, d_y)
    neurons, parameters = N * wide, N * wide**2
    whole = result in WHOLE_STEP  # else the signals of all layers are searched for
    return Work(
        numbers=40 * (n + 1) * neurons + 2 * parameters,
        products=10 * (n + 1) * parameters,
        attacked=10 * parameters,  # prompts with one token
        exact=50 * n * neurons,
        passes=15 * N * (1 if whole else N),
        before=Cost(MEBIBYTE * N, N * (0.35 if result in LONG_DERIVATIONS else 0.05) + 0.002 * N**2),
    )


def square_work(N: Count, K: Count, d: Count, n: Count, *, result: str) -> Work:
    return work(N, K, d, d, n, result=result)


# Theorems.


@cache
def theorem_of(name: str) -> Theorem:
    result = getattr(theory, name)
    names = {parameter.name for parameter in result.parameters}
    d_x, d_y = (symbols.d_x, symbols.d_y) if "d_x" in names else (symbols.d, symbols.d)
    shallow = theory.quantities_for(result, 2)  # in the place of those of any depth, which take long to derive
    counted = [each for each in shallow if not each.scopes and each.name not in SIZES]
    # Errata of p[j] and r'[j] show where R is too small, those of s[j] and the gradient in refutations.
    stated = partial(with_scopes, result)
    refuted = [each.name for each in shallow if each.erratum and each.name.startswith(("range_", "norm["))]
    return Theorem(
        statement=result,
        main=MAIN[result.id],
        inputs=prompt_domains(d_x, d_y, symbols.B_y if "B_y" in names else DEFAULTS["B_y"], or_fewer=True),
        network=taps,
        reference=reference,
        built={
            **{name: function for name, function in UNNAMED.items() if name not in names},
            "setting": setting,
            "plan": partial(plan_for, id=result.id, short=result.id in SHORT_RANGES),
            "emulation": emulation,
            "chain": lambda setting, emulation: Chain(setting, emulation),
        },
        at_point=AtPoint(
            quantities=stated,
            letters=derived_letters,
            printed_letters=printed_letters,
            refusal=refusal,
            outside=outside,
            idle=idle,
        ),
        knobs=Knobs(automatic=OPEN_SIZES, fixed=("N",), searched=SEARCHED),
        handles=operands,
        norms=norms,
        tokens=True,
        by_rules=False,
        exact=ExactRuns(bits=64),
        checks=tuple(Check(each, partial(counts.count, each.name)) for each in counted),
        search=InputSearch(
            samples=random_prompts,
            starts=one_token,
            envelope=envelope,
            leading=(LEADING,) if result.id in WHOLE_STEP else (),
        ),
        refuting=Refuting(refutations=REFUTATIONS.get(result.id, ()), shown=tuple(refuted)),
        work=partial(work if "d_x" in names else square_work, result=result.id),
        sources=(table_of(stated, LEADING),) if name == "DIMENSIONS" else (),
    )


def __getattr__(name: str) -> Theorem:
    """FORWARD, DERIVATIVE, ...: to derive all quantities takes seconds, so that each is stated on first use."""
    if name not in theory.STATED:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return theorem_of(name)
