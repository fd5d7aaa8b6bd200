"""The smallest perturbation of a decoder's parameters that flips its prediction: one search for every construction.

Lines that are tried: the gradients, through all steps, of score gaps and of bits (`unrolled`); the classifier along the
last output; single entries of biases, null keys, embedding and start; random dense directions; then the planes of the
nearest. A distance found is an upper bound of the all-layer margin (Wei et al. 2021, (2.1)): its perturbation was run,
and flipped the final prediction.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int64
from torch import Tensor

from numeric.tools.flips import Flip, FlipError, along, along_each, combine, norm, random_lines
from numeric.topics.machines.decoder import Decoder, parameters, run
from numeric.topics.machines.unrolled import Suspect, Unrolled, by_module

CAREFUL = 100  # networks; with fewer, distances are found to 1 % in place of 0.1 %
RATIO, SCALES = 1.35, 12  # the grid along gradients: so many scales from the smallest linear estimate on
Lines = dict[str, dict[str, Tensor]]


@dataclass(eq=False)
class DecoderVictim:
    """A decoder on one input; an attack makes `signed` 0 or less. Counts the networks it ran."""

    decoder: Decoder
    tokens: Tensor  # (m,)
    steps: int
    sign: float
    size: float  # |theta_cls . o_T|
    last: Tensor  # (w,): o_T
    ran: int = 0

    def signed(self, moved: Mapping[str, Tensor]) -> Tensor:
        """The signed predictions (P,) with these tensors, each (P, *shape), in place of the decoder's own."""
        copies = next(iter(moved.values())).shape[0]
        self.ran += copies
        tokens = self.tokens.expand(copies, -1)
        return self.sign * run(self.decoder, tokens, self.steps, parameters=moved).prediction  # (P,)

    def flips(self, moved: dict[str, Tensor]) -> Tensor:
        return self.signed(moved) <= 0


def victim(decoder: Decoder, tokens: Int64[Tensor, " m"], steps: int) -> DecoderVictim:
    """Raises FlipError where the prediction is 0: then the margin is 0."""
    came = run(decoder, tokens[None], steps)
    prediction = float(came.prediction[0])
    if prediction == 0:
        raise FlipError(f"attack_decoder: after {steps} steps the prediction is 0, and so is its margin. Run longer.")
    return DecoderVictim(decoder, tokens, steps, 1.0 if prediction > 0 else -1.0, abs(prediction), came.outputs[0, -1])


def attack_decoder(
    decoder: Decoder, tokens: Int64[Tensor, " m"], steps: int, *, seed: int, budget: int = 600, batch: int = 24
) -> Flip:
    """The smallest perturbation found that flips the prediction after `steps` decoder steps.

    The label is the sign of the unperturbed prediction. `budget`: about how many perturbed networks are run, `batch`
    how many at once. Deterministic for a seed. Raises FlipError where the unperturbed prediction is 0.
    """
    target, theta = victim(decoder, tokens, steps), parameters(decoder)
    keep = min(6, 1 + budget // 100)  # nearest lines that are followed to the end
    precision = 1e-3 if budget >= CAREFUL else 1e-2
    sure = target.size / float(target.last.norm())
    surest = along(
        target.flips, theta, classifier_line(target), largest=1.001 * sure, smallest=0.999 * sure, points=2,
        precision=precision,
    )  # fmt: skip
    asked = max(budget // (2 * SCALES), min(24, budget // 4), 4)
    lines, nearest = gradient_lines(target, asked, max(budget // (4 * SCALES), min(6, budget // 16), 2), seed)
    reach = min(surest.distance, nearest * RATIO**SCALES)
    steep = along_each(
        target.flips, theta, lines, largest=reach, smallest=min(nearest, reach), points=SCALES, keep=keep,
        precision=precision, batch=batch, signs=(1,),
    )  # fmt: skip
    best = min(flip.distance for flip in (surest, *steep))
    blunt = along_each(
        target.flips, theta, single_lines(theta, max(budget // 8 if budget >= CAREFUL else budget // 16, 1), seed),
        largest=best, smallest=best / 2, points=2, keep=min(2, keep), precision=precision, batch=batch,
    )  # fmt: skip
    ranked = sorted((flip for flip in (surest, *steep, *blunt) if flip.found), key=lambda flip: flip.distance)
    joint = combine(target.flips, theta, ranked[: 1 + budget // 150], angles=4, batch=batch)
    return replace(joint, evaluations=target.ran)


def gradient_lines(target: DecoderVictim, asked: int, kept: int, seed: int) -> tuple[Lines, float]:
    """Down the gradients of the `kept` nearest of `asked` suspects, and the least distance at which one vanishes.

    Distances here are to first order: value / |gradient|.
    """
    unrolled = Unrolled(target.decoder, target.tokens, target.steps)
    chosen = _chosen(unrolled.suspects, asked, seed)
    estimates = {}
    for suspect, gradient in zip(chosen, unrolled.gradients(chosen), strict=True):
        if (slope := norm(gradient)) > 0:
            line = {name: -part / slope for name, part in gradient.items()}
            estimates[suspect.name] = (float(suspect.value.detach()) / slope, line)
    nearest = sorted(estimates, key=lambda name: estimates[name][0])[:kept]
    return {name: estimates[name][1] for name in nearest}, estimates[nearest[0]][0]


def _chosen(suspects: Iterable[Suspect], count: int, seed: int) -> list[Suspect]:
    """Of each module the one that seems nearest and the last one, gaps before bits, then others by chance."""
    groups = by_module(list(suspects))
    first = [group[0] for group in groups.values()]
    last = [max(group, key=lambda one: one.step) for group in groups.values()]
    rest = [suspect for group in groups.values() for suspect in group]
    random.Random(seed).shuffle(rest)
    ordered = {one.name: one for one in (*first, *last, *rest)}
    gaps = [one for one in ordered.values() if "gap" in one.name]
    bits = [one for one in ordered.values() if "gap" not in one.name]
    return [*gaps[: 2 * count // 3], *bits[: count - min(len(gaps), 2 * count // 3)]]


def classifier_line(target: DecoderVictim) -> Lines:
    """theta_cls along o_T: theta_cls . o_T is 0 at the distance |theta_cls . o_T| / |o_T|. A flip there is sure."""
    return {"classifier": {"classifier": target.last / target.last.norm()}}


def single_lines(theta: Mapping[str, Tensor], count: int, seed: int) -> Lines:
    """Single entries of vectors, null keys before others, the embedding's, and a few random dense directions."""
    chance = random.Random(seed)
    entries = [(name, place) for name, part in theta.items() if part.ndim == 1 for place in range(part.numel())]
    entries += [("embedding", place) for place in range(theta["embedding"].numel())]
    chance.shuffle(entries)
    entries.sort(key=lambda entry: not entry[0].endswith("null_key"))
    lines: Lines = {}
    for name, place in entries[:count]:
        line = torch.zeros_like(theta[name])
        line.view(-1)[place] = 1.0
        lines[f"{name}[{place}]"] = {name: line}
    return lines | random_lines(theta, 2, seed)
