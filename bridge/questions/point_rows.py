"""What a comparison finds at its points, as text that gives it back: to the last bit, with its mathematics."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from bridge.instances.inputs import Batch
from bridge.instances.search import Points
from bridge.theorems.record import MARKED, NamedTable, Row
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class PointRows:
    """The rows of one point of a grid, and the tables under them."""

    rows: Sequence[Row]
    tables: Sequence[NamedTable]

    def text(self) -> str:
        """JSON in which no number is left out, infinite ones included."""
        rows, tables = [_plain(row) for row in self.rows], [_plain(table) for table in self.tables]
        return json.dumps({"rows": rows, "tables": tables})

    @classmethod
    def of_text(cls, text: str) -> "PointRows":
        """Raises UsageError for a text that `text` did not give."""
        try:
            read = json.loads(text)
            rows = [Row.model_validate(each) for each in read["rows"]]
            return cls(rows, [NamedTable.model_validate(each) for each in read["tables"]])
        except (ValidationError, ValueError, LookupError, TypeError) as error:
            raise _foreign("rows") from error


def _plain(record: Row | NamedTable) -> dict[str, Any]:
    return record.model_dump(context=MARKED)


def points_text(found: Mapping[int, Points]) -> str:
    """Of the points that an attack found, by the place of each instance in its grid."""
    kept = [
        {"place": place, "goal": goal, "inputs": {name: _plain_tensor(x) for name, x in batch.items()}}
        for place, points in found.items()
        for goal, batch in points.items()
    ]
    return json.dumps(kept)


def points_of_text(text: str) -> dict[int, Points]:
    """Raises UsageError for a text that `points_text` did not give."""
    found: dict[int, dict[tuple[str, str | None], Batch]] = {}
    try:
        for each in json.loads(text):
            quantity, scope = each["goal"]
            inputs = {name: _tensor(**x) for name, x in each["inputs"].items()}
            found.setdefault(each["place"], {})[quantity, scope] = inputs
    except (ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
        raise _foreign("points of an attack") from error
    return dict(found)


def _plain_tensor(tensor: Tensor) -> dict[str, Any]:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    content = base64.b64encode(flat.view(torch.uint8).numpy().tobytes()).decode()
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "content": content}


def _tensor(dtype: str, shape: Sequence[int], content: str) -> Tensor:
    raw = torch.frombuffer(bytearray(base64.b64decode(content)), dtype=torch.uint8)
    return raw.view(getattr(torch, dtype)).reshape(shape)


def _foreign(what: str) -> UsageError:
    return UsageError(f"finished parts: a file with {what} is not one that boundsmith wrote; remove it.")
