"""The study of the gradient (Lemma 1, Definition 3, Lemma 15 of wu2024): the derived formulas against autograd.

The formulas that run are the derived matrix expressions of `symbolic.gradients` themselves, evaluated on batches of
tensors and on matrices of balls. What they are compared with knows none of them: torch's autograd of the loss, and, in
exact arithmetic, the propagation of tangents with slopes from difference quotients.

Shapes: B inputs, n examples, D_w parameters; a layer is rows x cols, its gradient block a column of rows * cols.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import as_exact
from bridge.budget import BLOCK, Budget
from bridge.cost import Cost
from bridge.lowering import lower
from bridge.memory import require_memory
from bridge.study import Case, Inputs, Study, torch_device, torch_dtype
from bridge.verdicts import Evidence
from numeric.balls import ball_maximum, float_above, working_precision
from numeric.exact_cost import OPERATIONS_PER_SCALAR, ExactCost
from numeric.icgd import sampling
from numeric.icgd.exact import TooLargeForExactStep
from numeric.icgd.reference import empirical_loss
from numeric.icgd.shape import Shape
from symbolic.activations import Activation, Loss, activation, loss
from symbolic.gradients import gradient_as_product, gradient_by_recursion
from symbolic.icgd import gradient as theory
from symbolic.statements import Quantity, Result, UsageError

FORMS: dict[str, Callable[..., list[Any]]] = {"recursion": gradient_by_recursion, "product": gradient_as_product}
LARGEST_CHUNK = 1 << 24  # numbers in the largest Kronecker product formed at once: 128 MiB of float64
EXACT_LIMIT = 16_000_000  # ball multiplications for one input, at the bits below: some two seconds
FLOOR = 2.0**-500
STEP_BITS = 256  # difference quotients are taken at distance 2^-256: saturated slopes are tiny, and norms relative
Blocks = Sequence[Any]


class TensorAlgebra:
    """Batches of matrices (..., rows, cols) that broadcast."""

    def __init__(self, r: Callable[[Tensor], Tensor], r1: Callable[[Tensor], Tensor], like: Tensor) -> None:
        self.activation, self.slope = r, r1
        self._like = like

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        return left @ right

    def transpose(self, matrix: Tensor) -> Tensor:
        return matrix.mT

    def hadamard(self, left: Tensor, right: Tensor) -> Tensor:
        return left * right

    def diagonal(self, column: Tensor) -> Tensor:
        return torch.diag_embed(column[..., 0])  # (..., rows, rows)

    def kronecker(self, left: Tensor, right: Tensor) -> Tensor:
        entries = left[..., :, None, :, None] * right[..., None, :, None, :]  # (..., a, b, c, d)
        a, b, c, d = entries.shape[-4:]
        return entries.reshape(*entries.shape[:-4], a * b, c * d)

    def identity(self, size: int) -> Tensor:
        return torch.eye(size, dtype=self._like.dtype, device=self._like.device)


class BallAlgebra:
    """Matrices of balls."""

    def __init__(self, r: Callable[[flint.arb], flint.arb], r1: Callable[[flint.arb], flint.arb]) -> None:
        self._r, self._r1 = r, r1

    def product(self, left: flint.arb_mat, right: flint.arb_mat) -> flint.arb_mat:
        return left * right

    def transpose(self, matrix: flint.arb_mat) -> flint.arb_mat:
        return matrix.transpose()

    def hadamard(self, left: flint.arb_mat, right: flint.arb_mat) -> flint.arb_mat:
        return _column([a * b for a, b in zip(left.entries(), right.entries(), strict=True)])

    def diagonal(self, column: flint.arb_mat) -> flint.arb_mat:
        size = column.nrows()
        return flint.arb_mat(
            size, size, [e if i == k else 0 for i, e in enumerate(column.entries()) for k in range(size)]
        )

    def kronecker(self, left: flint.arb_mat, right: flint.arb_mat) -> flint.arb_mat:
        entries = [a * b for row in left.tolist() for other in right.tolist() for a in row for b in other]
        return flint.arb_mat(left.nrows() * right.nrows(), left.ncols() * right.ncols(), entries)

    def identity(self, size: int) -> flint.arb_mat:
        return flint.arb_mat(size, size, [int(i == k) for i in range(size) for k in range(size)])

    def activation(self, column: flint.arb_mat) -> flint.arb_mat:
        return _column([self._r(z) for z in column.entries()])

    def slope(self, column: flint.arb_mat) -> flint.arb_mat:
        return _column([self._r1(z) for z in column.entries()])


class GradientCase(Case):
    """Lemma 1 at one point: inputs are w (B, D_w) in the box, x (B, n, d_x) and y (B, n, d_y) in their balls."""

    result: Result = theory.GRADIENT

    def __init__(self, params: dict[str, Any], dtype: str, device: str) -> None:
        self.params = self.full_params = params
        self.result = _stated(int(params["N"]))
        self.shape = Shape(*(int(params[name]) for name in ("N", "K", "d_x", "d_y")))
        self.n = int(params["n"])
        self.B_v, self.B_x, self.B_y = (float(params[name]) for name in ("B_v", "B_x", "B_y"))
        self.activation, self.loss = activation(params["activation"]), loss(params["loss"])
        self.dtype, self.device = torch_dtype(dtype), torch_device(device)
        self.values = {p.symbol: params[p.name] for p in self.result.parameters if p.symbol is not None}

    # Inputs.

    def sample(self, count: int, seed: int) -> Inputs:
        return sampling.prompts(self.shape, self.n, self.B_v, self.B_x, self.B_y, count, seed, self.dtype, self.device)

    def starts(self, count: int, seed: int) -> Inputs:
        return sampling.starts(
            self.shape, self.n, self.B_v, self.B_x, self.B_y, count, seed, torch.float64, self.device
        )

    def project(self, inputs: Inputs) -> Inputs:
        return sampling.project(self.shape, inputs, self.B_v, self.B_x, self.B_y)

    def check_inputs(self, inputs: Inputs) -> None:
        shapes = {"w": (1, self.shape.parameters), "x": (1, self.n, self.shape.d_x), "y": (1, self.n, self.shape.d_y)}
        got = {name: tuple(inputs[name].shape) if name in inputs else "nothing" for name in shapes}
        if got != shapes:
            raise UsageError(f"{self.result.id}: expected w, x, y of shapes {shapes}, got {got}")
        # Exact norms are not needed: the statement holds everywhere, the domain only says where it was measured.
        moved = self.project(inputs)
        if any(not torch.allclose(moved[name], inputs[name], rtol=1e-12, atol=0.0) for name in shapes):
            raise UsageError(f"{self.result.id}: the inputs lie outside the box of w or the balls of x and y")

    # In floats.

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        dtype = torch.float64 if attack else self.dtype
        count = len(inputs["w"])
        size = self._chunk()
        parts = [
            self._errors({name: value[start : start + size] for name, value in inputs.items()}, names, dtype, attack)
            for start in range(0, count, size)
        ]
        return {name: torch.cat([part[name] for part in parts]) for name in names}

    def _errors(self, inputs: Inputs, names: Sequence[str], dtype: torch.dtype, attack: bool) -> dict[str, Tensor]:
        truth = self.autograd({name: value.double() for name, value in inputs.items()}, differentiable=attack)
        moved = {name: value.to(dtype) for name, value in inputs.items()}
        return {name: relative_distance(self.formula(name, moved), truth) for name in names}

    def _chunk(self) -> int:
        """How many inputs fit into LARGEST_CHUNK at once."""
        return max(1, LARGEST_CHUNK // (self.n * max(rows**2 * cols for rows, cols in self.shape.sizes)))

    def formula(self, name: str, inputs: Inputs) -> list[Tensor]:
        """The blocks (B, rows * cols) of the gradient of L_n by the derived formula of that name."""
        V = [matrix[:, None] for matrix in self.shape.matrices(inputs["w"])]  # each (B, 1, rows, cols)
        x, y = inputs["x"][..., None], inputs["y"][..., None]  # (B, n, d_x, 1), (B, n, d_y, 1)
        r, r1, u = _on_tensors(self.activation, 0), _on_tensors(self.activation, 1), _loss_on_tensors(self.loss, 1)
        algebra = TensorAlgebra(r, r1, x)
        states, p = theory.NETWORK.states(V, x, algebra)
        blocks = FORMS[name](states, u(p, y), algebra)  # each (B, n, rows * cols, 1)
        return [block[..., 0].sum(1) / (2 * self.n) for block in blocks]

    def autograd(self, inputs: Inputs, *, differentiable: bool = False) -> list[Tensor]:
        """The same blocks by automatic differentiation of L_n, in the dtype of the inputs."""
        r, ell = _on_tensors(self.activation, 0), _loss_on_tensors(self.loss, 0)
        with torch.enable_grad():
            w = inputs["w"] if inputs["w"].requires_grad else inputs["w"].detach().requires_grad_(True)
            total = empirical_loss(self.shape, w, inputs["x"], inputs["y"], r, ell).sum()
            (gradient,) = torch.autograd.grad(total, w, create_graph=differentiable)
        return [gradient[:, where] for where in self.shape.slices]

    # In exact arithmetic.

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        self._require_affordable(names)
        held = {name: value[:1].to(self.dtype) for name, value in inputs.items()}
        with working_precision(bits + 2 * STEP_BITS):
            truth = self._exact_tangents(held, bits + 2 * STEP_BITS)
            floats = self.autograd({name: value.double() for name, value in held.items()})
            off = _ball_distance(truth, _as_balls(floats))
            found = {}
            for name in names:
                exact = self._exact_formula(name, held, bits + 2 * STEP_BITS)
                rounding = _ball_distance(exact, _as_balls(self.formula(name, held))) + off
                found[name] = (_ball_distance(exact, truth), float_above(rounding))
            return found

    # Tangents take N^2 / 2 products of K x K matrices for each token. The recursion multiplies [I (x) p] (rows * cols x
    # rows) with a column, the product form d_y x rows with rows x (rows * cols). Entries of [I (x) p] are mere copies.
    def _require_affordable(self, names: Sequence[str]) -> None:
        shape = self.shape
        kronecker = sum(rows**2 * cols for rows, cols in shape.sizes)
        products = shape.N**2 * max(shape.widths[1:]) ** 3 // 2 + kronecker * (shape.d_y if "product" in names else 1)
        cost = ExactCost(self.n * products, self.n * kronecker // OPERATIONS_PER_SCALAR)
        if cost.operations > EXACT_LIMIT:
            raise TooLargeForExactStep(shape, self.n, 1, cost, EXACT_LIMIT)

    def _exact_formula(self, name: str, inputs: Inputs, bits: int) -> list[list[flint.arb]]:
        u = _loss_on_balls(self.loss, 1, bits)
        algebra = BallAlgebra(_on_balls(self.activation, 0, bits), _on_balls(self.activation, 1, bits))
        V = self._ball_matrices(inputs)

        def blocks(x: flint.arb_mat, y: flint.arb_mat) -> list[list[flint.arb]]:
            states, p = theory.NETWORK.states(V, x, algebra)
            pull = _column([u(a, b) for a, b in zip(p.entries(), y.entries(), strict=True)])
            return [block.entries() for block in FORMS[name](states, pull, algebra)]

        return self._mean(blocks, inputs)

    # Forward mode, by the definition of a derivative: moving V_j[a, b] by t moves z(j)[a] by t p(j-1)[b]; the tangent
    # of z(j)[a] then runs through the later layers, T(i) = diag(slopes) V_i T(i-1), and through the loss. Slopes are
    # difference quotients of r and of the loss, with Taylor's remainder h^2/6 sup |f'''| as a ball around them.
    def _exact_tangents(self, inputs: Inputs, bits: int) -> list[list[flint.arb]]:
        r, slope = _on_balls(self.activation, 0, bits), quotient_of(self.activation, bits)
        pull = loss_quotient_of(self.loss, bits)
        V = self._ball_matrices(inputs)

        def blocks(x: flint.arb_mat, y: flint.arb_mat) -> list[list[flint.arb]]:
            p, slopes = [x], []
            for matrix in V:
                z = (matrix * p[-1]).entries()
                p.append(_column([r(each) for each in z]))
                slopes.append([slope(each) for each in z])
            final = [[pull(a, b) for a, b in zip(p[-1].entries(), y.entries(), strict=True)]]
            return [self._one_layer(V, p, slopes, flint.arb_mat(final), j) for j in range(self.shape.N)]

        return self._mean(blocks, inputs)

    @staticmethod
    def _one_layer(
        V: Blocks, p: Blocks, slopes: Sequence[list[flint.arb]], final: flint.arb_mat, j: int
    ) -> list[flint.arb]:
        size = len(slopes[j])
        T = flint.arb_mat(size, size, [e if a == k else 0 for a, e in enumerate(slopes[j]) for k in range(size)])
        for i in range(j + 1, len(V)):
            moved = (V[i] * T).tolist()
            T = flint.arb_mat([[e * t for t in row] for e, row in zip(slopes[i], moved, strict=True)])
        by_argument = (final * T).entries()  # the loss by z(j)[a]
        return [each * entry for each in by_argument for entry in p[j].entries()]

    def _ball_matrices(self, inputs: Inputs) -> list[flint.arb_mat]:
        return [flint.arb_mat(matrix[0].double().tolist()) for matrix in self.shape.matrices(inputs["w"])]

    def _mean(self, blocks: Callable[..., list[list[flint.arb]]], inputs: Inputs) -> list[list[flint.arb]]:
        """(1/2n) times the sum over the examples."""
        tokens = [[_column(map(flint.arb, t)) for t in inputs[name][0].double().tolist()] for name in ("x", "y")]
        found = [blocks(x, y) for x, y in zip(*tokens, strict=True)]
        return [[sum(each) / (2 * self.n) for each in zip(*layer, strict=True)] for layer in zip(*found, strict=True)]

    # Bounds.

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        return {}

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str = "") -> Tensor:
        raise UsageError(f"{self.result.id}: '{quantity.name}' is an identity; it has no bound of its own at a prompt")

    def rounding_estimate(self) -> float:
        # A relative distance is never above 2. Nothing smaller is safe: where a block cancels to almost 0, rounding is
        # as large as the block. So without exact arithmetic an identity stays undecided, and is never called violated.
        return 2.0

    def memory(self, budget: Budget) -> int:
        largest = self.n * max(rows**2 * cols for rows, cols in self.shape.sizes)
        inputs = self.shape.parameters + self.n * (self.shape.d_x + self.shape.d_y)
        kept = min(BLOCK, self._chunk()) + self.shape.N * budget.restarts  # autograd keeps each layer of each restart
        return 8 * (4 * largest * kept + inputs * (budget.samples + 20 * budget.restarts))

    def constants(self) -> dict[str, Evidence]:
        shape = self.shape
        sizes = {symbol: as_exact(value) for symbol, value in self.values.items()}
        parameters = sum(rows * cols for rows, cols in shape.sizes)
        off = abs(int(theory.PRINTED_TOTAL.subs(sizes)) - parameters)
        counts = {"parameters": off, "slopes": sum(shape.widths[1:])}
        return {name: Evidence(float(count), flint.arb(count), 0.0) for name, count in counts.items()}


def _stated(layers: int) -> Result:
    """The result for that many layers: Definition 1, and so its counts, has a hidden layer."""
    stated = tuple(q for q in theory.GRADIENT.quantities if layers > 1 or q.scopes)
    return replace(theory.GRADIENT, quantities=stated)


class GradientStudy(Study):
    """Lemma 1, Definition 3 and Lemma 15: see `GradientCase`."""

    result = theory.GRADIENT
    main_quantity = "recursion"

    # Layer by layer, the Kronecker products of (3.7); an attack takes each of them backwards.
    def cost(self, sizes: Mapping[str, float], budget: Budget | None) -> Cost:
        layers, n, wide = sizes["N"], sizes["n"], max(sizes["K"], sizes["d_x"], sizes["d_y"])
        built = Cost(8 * (layers * wide**2 + n * wide**3))
        if budget is None:
            return built
        runs = budget.samples + 4 * budget.attack * budget.restarts
        return built + Cost(0.0, layers * (0.03 + 0.01 * budget.attack) + 1e-9 * runs * n * layers * wide**3)

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> GradientCase:
        defaults = {parameter.name: parameter.default for parameter in self.result.parameters}
        defaults["N"] = max(defaults["N"])
        known = {**defaults, **params}
        resolved = {
            p.name: str(known[p.name]) if p.symbol is None else self.result.number(p.name, known[p.name])
            for p in self.result.parameters
        }
        self.result.check({name: value for name, value in resolved.items() if not isinstance(value, str)})
        sizes = [resolved[name] for name in ("N", "K", "d_x", "d_y", "n")]
        require_memory(f"{self.result.id}: {resolved}", _bytes(*map(int, sizes)), "lower N, K, d_x, d_y or n")
        return GradientCase(resolved, dtype, device)


def _bytes(N: int, K: int, d_x: int, d_y: int, n: int) -> int:
    """What one input takes: its parameters, and the largest Kronecker product of its examples."""
    wide = max(K, d_y)
    return 8 * (N * max(K, d_x) * wide + n * wide**2 * max(K, d_x))


# ---- distances -----------------------------------------------------------------------------------------------------


def relative_distance(blocks: Sequence[Tensor], others: Sequence[Tensor]) -> Tensor:
    """(B,): the largest over the blocks of ||a - b|| / max(||a||, ||b||, 2^-500), a floor against 0/0 and underflow."""
    found = []
    for a, b in zip(blocks, others, strict=True):
        scale = torch.maximum(_norm(a.double()), _norm(b.double())).clamp(min=FLOOR)  # (B,)
        found.append(_norm(a.double() - b.double()) / scale)
    return torch.stack(found).amax(0)


def _norm(block: Tensor) -> Tensor:
    """The 2-norm over the last axis, with the gradient 0 at 0."""
    squares = block.square().sum(-1)
    present = squares > 0
    return torch.where(present, torch.where(present, squares, 1.0).sqrt(), 0.0)


def _ball_distance(blocks: Sequence[list[flint.arb]], others: Sequence[list[flint.arb]]) -> flint.arb:
    """The same of balls."""
    found = []
    for a, b in zip(blocks, others, strict=True):
        scale = _ball_norm(a).max(_ball_norm(b)).max(flint.arb(FLOOR))
        found.append(_ball_norm([left - right for left, right in zip(a, b, strict=True)]) / scale)
    return ball_maximum(found)


def _ball_norm(entries: Sequence[flint.arb]) -> flint.arb:
    squares = sum((entry * entry for entry in entries), start=flint.arb(0))
    if squares > 0:
        return squares.sqrt()
    return flint.arb(0).union(squares.upper().max(flint.arb(0)).sqrt())  # the ball, but not the sum, may reach below 0


def _as_balls(blocks: Sequence[Tensor]) -> list[list[flint.arb]]:
    return [[flint.arb(entry) for entry in block[0].detach().double().tolist()] for block in blocks]


def _column(entries: Any) -> flint.arb_mat:
    held = list(entries)
    return flint.arb_mat(len(held), 1, held)


# ---- activation and loss as callables --------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _on_tensors(chosen: Activation, order: int) -> Callable[..., Tensor]:
    """r or r' on tensors."""
    return lower(chosen.expr if order == 0 else chosen.derivative(order), "torch", args=(chosen.t,))


@lru_cache(maxsize=64)
def _loss_on_tensors(chosen: Loss, order: int) -> Callable[..., Tensor]:
    """The loss of one coordinate, or u, on tensors (t, y)."""
    return lower(chosen.expr if order == 0 else chosen.gradient, "torch", args=(chosen.t, chosen.y))


@lru_cache(maxsize=64)
def _on_balls(chosen: Activation, order: int, bits: int) -> Callable[..., flint.arb]:
    return lower(chosen.expr if order == 0 else chosen.derivative(order), "arb", args=(chosen.t,), bits=bits)


@lru_cache(maxsize=64)
def _loss_on_balls(chosen: Loss, order: int, bits: int) -> Callable[..., flint.arb]:
    return lower(chosen.expr if order == 0 else chosen.gradient, "arb", args=(chosen.t, chosen.y), bits=bits)


# Taylor: (f(z + h) - f(z - h)) / 2h = f'(z) + h^2/6 f'''(xi) with |xi - z| <= h.
def quotient_of(chosen: Activation, bits: int) -> Callable[[flint.arb], flint.arb]:
    """r'(z) enclosed by a difference quotient of r; where r has no three derivatives, by r' itself."""
    if chosen.smoothness < 3:
        return _on_balls(chosen, 1, bits)
    r, third = _on_balls(chosen, 0, bits), _on_balls(chosen, 3, bits)
    return lambda z: _quotient(r, third, z)


def loss_quotient_of(chosen: Loss, bits: int) -> Callable[[flint.arb, flint.arb], flint.arb]:
    """d ell / dt at (t, y) enclosed by a difference quotient of the loss."""
    ell = _loss_on_balls(chosen, 0, bits)
    third = lower(sp.diff(chosen.expr, chosen.t, 3), "arb", args=(chosen.t, chosen.y), bits=bits)
    return lambda t, y: _quotient(lambda z: ell(z, y), lambda z: third(z, y), t)


def _quotient(f: Callable[..., flint.arb], third: Callable[..., flint.arb], z: flint.arb) -> flint.arb:
    h = flint.arb(2) ** -STEP_BITS
    around = z + h * flint.arb(0, 1)
    remainder = abs(third(around)) * h * h / 6
    return (f(z + h) - f(z - h)) / (2 * h) + remainder * flint.arb(0, 1)
