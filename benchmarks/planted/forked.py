"""A fault, tried in a process that is forked from one in which everything has run without it."""

import gc
import multiprocessing as mp
import resource
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.mutants.faults import Fault
from benchmarks.mutants.trial import MEMORY, Report, forget, serve, served
from benchmarks.planted.kinds import ROOT

ENDS = 300  # seconds of processor time for one fault
Verdict = tuple[str, str]  # and what showed it


def tried_in_a_fork(fault: Fault, new: Sequence[str], judge: Callable[[], Verdict]) -> Verdict:
    """What `judge` says where the modules that begin with `new` are imported anew, with the fault."""
    context: Any = mp.get_context("fork")
    answer, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_try, args=(theirs, fault, new, judge))
    child.start()
    theirs.close()
    try:
        verdict: Verdict = answer.recv()
    except EOFError:
        verdict = "found", "does not end"
    child.join()
    return verdict


def _try(answer: Connection, fault: Fault, new: Sequence[str], judge: Callable[[], Verdict]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, ENDS)
    gc.freeze()  # objects of the parent are not garbage: collecting them would copy all of its memory
    forget(*new)
    serve(served(ROOT, fault.file, fault.source(ROOT)), Report())
    answer.send(judge())
    answer.close()
