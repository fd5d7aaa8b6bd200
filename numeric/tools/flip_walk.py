"""Nearer and nearer points of the boundary at which a prediction turns, by gradients where there are any.

Shapes: P perturbed copies in one evaluation, n parameters in all, R restarts, C proposals for each.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from numeric.tools.flip_lines import Change, Flip, FlipError, Probe, nothing

Output = Callable[[dict[str, Tensor]], Tensor]  # moved tensors, each (P, *shape) -> (P,) signed outputs; <= 0: turned

PULLS = (1.0, 0.5, 0.2, 0.05)  # how far towards the nearest point of the linearised boundary
SHRINKS = (0.9, 0.98, 0.995, 0.999)  # of the norm, tried for each proposal
NOISES = (0.3, 0.1, 0.03, 0.01)  # of the norm: sideways steps, which need no gradient
HALVINGS = 8  # of a ray in each step; in the end it is cut more finely
OUTWARD = 12  # linearised steps from a start that does not yet turn the prediction


def walk_boundary(
    output: Output,
    parameters: Change,
    starts: Sequence[Change],
    *,
    radii: Sequence[float],
    restarts: int,
    steps: int,
    seed: int,
) -> Flip:
    """Projected gradient for an output that is differentiable almost everywhere.

    Restarts are the given starts and random ones at the given radii (far enough out that saturated layers let a
    gradient through), which first walk to the boundary. There each proposes points nearer to theta: on the way to the
    foot of the perpendicular on the linearised boundary, and random steps sideways; all are pulled in along their ray.
    Only points that turn the prediction are ever kept. Deterministic for a seed.
    """
    walk = _Walk(output, parameters, torch.Generator().manual_seed(seed))
    points = [walk.flat(start) for start in starts]
    points += [radius * walk.random_unit() for radius in radii for _ in range(restarts)]
    if not points:
        raise FlipError("walk_boundary: no starts; give starts, or radii and restarts.")
    at = walk.to_the_boundary(torch.stack(points))  # (R, n), those that arrived
    if not len(at):
        return nothing(walk.evaluations)
    at = at[at.norm(dim=1).argsort()[: max(restarts, 1)]]
    for _ in range(steps):
        at = walk.nearer(at)
    best = walk.along_rays(at[at.norm(dim=1).argmin()][None])[0]
    return Probe(lambda moved: output(moved) <= 0, parameters, 1, walk.evaluations).confirmed(walk.change(best), "walk")


class _Walk:
    """All parameters as one vector; only ever compares signed outputs with 0."""

    def __init__(self, output: Output, parameters: Change, generator: torch.Generator) -> None:
        self.output, self.generator, self.evaluations = output, generator, 0
        self.shapes = {name: part.shape for name, part in parameters.items()}
        self.theta = torch.cat([part.reshape(-1) for part in parameters.values()])  # (n,)

    def flat(self, change: Change) -> Tensor:
        parts = [change.get(name, self.theta.new_zeros(shape)) for name, shape in self.shapes.items()]
        return torch.cat([part.reshape(-1).to(self.theta) for part in parts])  # (n,)

    def change(self, vectors: Tensor) -> dict[str, Tensor]:
        parts = vectors.split([shape.numel() for shape in self.shapes.values()], dim=-1)
        leading = vectors.shape[:-1]
        return {
            name: part.reshape((*leading, *shape))
            for part, (name, shape) in zip(parts, self.shapes.items(), strict=True)
        }

    def random_unit(self) -> Tensor:
        vector = torch.randn(len(self.theta), generator=self.generator, dtype=torch.float64, device="cpu").to(
            self.theta
        )
        return vector / vector.norm()

    def signed(self, deltas: Tensor) -> Tensor:  # (P, n) -> (P,)
        self.evaluations += len(deltas)
        return self.output(self.change(self.theta + deltas))

    def turned(self, deltas: Tensor) -> Tensor:  # (P, n) -> (P,)
        with torch.no_grad():
            return self.signed(deltas) <= 0

    def foot(self, deltas: Tensor) -> Tensor:
        """Foot of the perpendicular from theta on {delta': F + g . (delta' - delta) = 0}; delta where g vanishes."""
        leaf = deltas.clone().requires_grad_()
        value = self.signed(leaf)  # (P,)
        (gradient,) = torch.autograd.grad(value.sum(), leaf)  # (P, n)
        square = gradient.square().sum(1, keepdim=True)  # (P, 1)
        reach = ((gradient * deltas).sum(1, keepdim=True) - value.detach()[:, None]) / square
        usable = (square > 0) & torch.isfinite(reach)
        return torch.where(usable, reach.nan_to_num() * gradient, deltas)

    def to_the_boundary(self, deltas: Tensor) -> Tensor:
        """Linearised steps, a little too long, until the prediction turns; then back along the ray."""
        arrived = torch.zeros(len(deltas), dtype=torch.bool, device=deltas.device)
        for _ in range(OUTWARD):
            arrived = self.turned(deltas)
            if bool(arrived.all()):
                break
            feet = self.foot(deltas)
            stuck = (feet - deltas).norm(dim=1) <= 1e-9 * deltas.norm(dim=1)  # no gradient here: further out
            onward = torch.where(stuck[:, None], 1.5 * deltas, 1.05 * feet)
            deltas = torch.where(arrived[:, None], deltas, onward)
        return self.along_rays(deltas[self.turned(deltas)])

    def along_rays(self, deltas: Tensor, halvings: int = 24) -> Tensor:
        """Each turned point pulled in along its ray to the point where the prediction turns, on the far side of it."""
        low, high = deltas.new_zeros(len(deltas)), deltas.new_ones(len(deltas))
        for _ in range(halvings):
            middle = (low + high) / 2
            turned = self.turned(middle[:, None] * deltas)
            low, high = torch.where(turned, low, middle), torch.where(turned, middle, high)
        return high[:, None] * deltas

    def nearer(self, deltas: Tensor) -> Tensor:
        """For each restart the nearest turned point among its proposals, or where it was."""
        sizes = deltas.norm(dim=1)  # (R,)
        feet = self.foot(deltas)
        rays = [deltas + pull * (feet - deltas) for pull in PULLS]
        rays += [deltas + noise * sizes[:, None] * self.sideways(deltas) for noise in NOISES]
        sphere = torch.stack([_resized(ray, sizes) for ray in rays])  # (C', R, n), all as long as the deltas
        shrinks = sphere.new_tensor(SHRINKS)  # (C = shrinks * C')
        proposals = (shrinks[:, None, None, None] * sphere).flatten(0, 1)  # (C, R, n)
        turned = self.turned(proposals.flatten(0, 1)).reshape(proposals.shape[:2])  # (C, R)
        lengths = shrinks.repeat_interleave(len(rays))[:, None] * sizes  # (C, R)
        distances = torch.where(turned, lengths, torch.inf)
        choice = distances.argmin(0)  # (R,)
        rows = torch.arange(len(deltas), device=deltas.device, dtype=torch.int64)
        better = distances[choice, rows] < sizes
        return self.along_rays(torch.where(better[:, None], proposals[choice, rows], deltas), HALVINGS)

    def sideways(self, deltas: Tensor) -> Tensor:
        return torch.stack([self.random_unit() for _ in range(len(deltas))])


def _resized(vectors: Tensor, sizes: Tensor) -> Tensor:
    lengths = vectors.norm(dim=1, keepdim=True)
    return torch.where(lengths > 0, vectors * (sizes[:, None] / lengths.clamp_min(1e-300)), vectors)
