"""A comparison as jobs: an attack for the points that are attacked together, then the rows of each point."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bridge.export.comparison import Comparison
from bridge.limits.accepted import LongRun
from bridge.questions.checked_call import CheckedCall, Progress, attack_name, checked_call, point_name
from bridge.questions.kept import KeptParts, differences
from bridge.questions.point_rows import PointRows, points_text
from bridge.questions.sweeping.engines import Engine, in_folder
from bridge.questions.sweeping.jobs import run_jobs
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class PartOfCall:
    """A job: the points at these places of the grid of a call that another process has checked.

    All that is data. `attack`: their attack is wanted, not the rows. `found` is what an attack has found, if one has.
    """

    theorem: str
    options: Mapping[str, Any]
    params: Mapping[str, Any]
    identity: Mapping[str, Any]
    folder: str
    places: Sequence[int]
    attack: bool = False
    found: str | None = None


def run_part(job: PartOfCall) -> str:
    """The text of an attack, or of the rows of a point. Raises UsageError where this process would find others."""
    folder = job.folder if job.identity["files"] else os.curdir  # a worker without the user's files needs none
    with in_folder(folder), warnings.catch_warnings(action="ignore", category=LongRun):
        call = checked_call(job.theorem, job.options, job.params, only=job.places)
        different = list(differences(job.identity, call.identity))
        if different:
            raise UsageError(f"the worker differs: {'; '.join(different)}")
        if job.attack:
            return points_text(call.attacked(job.places))
        (place,) = job.places
        found = {} if job.found is None else call.found_in(job.found)
        return call.point(place, found.get(place)).text()


def swept_comparison(
    theorem: str,
    options: Mapping[str, Any],
    params: Mapping[str, Any],
    kept: KeptParts,
    engine: Engine,
    call: CheckedCall,
    progress: Progress,
) -> Comparison:
    """The record of `call`, by jobs of which each is kept as it is done; `theorem` is an id or a file.

    Raises UsageError if a job fails, once all others are done.
    """
    whole = PartOfCall(theorem, options, params, call.identity, os.getcwd(), ())
    done = set(kept.names())
    missing = [place for place in call.instances if point_name(place) not in done]
    groups = [group for group in call.groups() if set(group) & set(missing)]
    attacks = {attack_name(group): replace(whole, places=group, attack=True) for group in groups}
    run_jobs(run_part, {name: job for name, job in attacks.items() if name not in done}, kept, engine, progress)
    found: dict[int, str] = {}
    for group in groups:
        points = call.found_in(kept.read(attack_name(group)) or "[]")
        found |= {place: points_text({place: points[place]}) for place in points}
    jobs = {point_name(place): replace(whole, places=[place], found=found.get(place)) for place in missing}
    run_jobs(run_part, jobs, kept, engine, progress)
    return call.comparison(kept_rows(kept, call.instances))


def kept_rows(kept: KeptParts, places: Iterable[int]) -> dict[int, PointRows]:
    """Of the points at these places that are done."""
    texts = {place: kept.read(point_name(place)) for place in places}
    return {place: PointRows.of_text(text) for place, text in texts.items() if text is not None}
