"""A comparison made by hand, with every sort of row: kept, violated, vacuous, rounding, a rate, two scopes."""

import math
from typing import Any

from bridge.export.comparison import Comparison
from bridge.theorems.record import Flag, Row, Verdict, Witness

RESULT = "induction.vanilla"


def _row(quantity: str, scope: str | None, p: int, L: int, **changes: Any) -> Row:
    derived = 0.5 * math.exp(-p)
    fields: dict[str, Any] = {
        "quantity": quantity,
        "kind": "upper",
        "quantifier": "for all inputs",
        "scope": scope,
        "params": {"p": p, "L": L, "d": 4, "W_star": 0.25},
        "printed": math.exp(-p) / (1 - math.exp(-p)),
        "derived": derived,
        "instance": derived * (0.9 if scope == "network" else 0.6),
        "measured": derived * 0.3,
        "attacked": derived * 0.55,
        "rounding": 1.1e-16,
        "exact": derived * 0.5500000001,
        "ratio": 1 / 0.55,
        "verdict": dict.fromkeys(("printed", "derived", "instance"), Verdict.KEPT),
        "norm": "sup norm",
        "domain": "tokens in [-1, 1]^d, L >= 3",
        "construction": "masked",
        "meaning": "last output token against IH_2",
        "samples": 64,
        "attack_steps": 200,
        "restarts": 4,
        "slack": {"y": 1.0, "output": 1.25},
    }
    return Row(**(fields | changes))


def _as_printed(p: int, L: int) -> Row:
    error = 2 / L
    witness = Witness(
        result=RESULT,
        quantity="output.mask_3",
        params={"p": p, "L": L, "d": 4, "W_star": 0.25},
        inputs={"tokens": [[1.0, -1.0]] * L},
        error_lower=error,
        bounds={"printed": math.exp(-p)},
    )
    return _row(
        "output.mask_3",
        "network",
        p,
        L,
        measured=error / 2,
        attacked=error,
        exact=error,
        derived=1.5 * error,
        instance=1.2 * error,
        verdict={"printed": Verdict.VIOLATED, "derived": Verdict.KEPT, "instance": Verdict.KEPT},
        flags={"derived": [Flag.VACUOUS]},
        witness=witness,
        remark="mask (3) shows key 1 to the last query, 100% of the time & at a cost of 1/L",
    )


def comparison(ps: tuple[int, ...] = (1, 2, 4, 8), Ls: tuple[int, ...] = (8, 64)) -> Comparison:
    rows: list[Row] = []
    for L in Ls:
        for p in ps:
            rows += [_row(name, scope, p, L) for name in ("y", "output") for scope in ("network", "prompt")]
            rows.append(_as_printed(p, L))
        rate = {"derived": None, "instance": None, "printed": 1.0, "measured": 1.02, "attacked": None, "exact": None}
        rows.append(
            _row("output.rate", None, 1, L, **rate, kind="rate", verdict={"printed": Verdict.CONSISTENT}).model_copy(
                update={"params": {"L": L, "d": 4, "W_star": 0.25}, "rounding": None, "slack": {}}
            )
        )
    return Comparison(
        result=RESULT,
        citation="Wang et al. 2024, Theorem 4.1, Theorem A.1, Lemma D.1",
        params={"p": list(ps), "L": list(Ls), "d": 4, "W_star": 0.25, "leak": 0.01},
        environment={"torch": "2.13.0", "dtype": "float64", "device": "cpu"},
        rows=rows,
    )
