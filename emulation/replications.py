"""Runs a scenario with many seeds, each in a process of its own.

Every seed has the folder `seed-N`. Runs are independent, so that a trace is the same as that of a single run,
whatever the number of processes and the order in which they end.

An interruption is passed on once to every process: each ends its run as a valid partial one, further runs do
not start, and `ReplicationsInterrupted` lists the state of every seed.
"""

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType

from dens.config.problems import listed
from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario
from emulation.scenario_processes import check_allowed


class ReplicationsInterrupted(KeyboardInterrupt):
    """The runs were interrupted. `summaries` has those of all runs that began, in the order of the seeds."""

    def __init__(self, summaries: list[RunSummary], seeds: Sequence[int]) -> None:
        super().__init__()
        self.summaries = summaries
        self._seeds = seeds

    def line(self) -> str:
        """Return a line for people with the complete, partial and missing seeds."""
        whole = [one.seed for one in self.summaries if one.status == "complete"]
        partial = [one.seed for one in self.summaries if one.status == "partial"]
        began = {*whole, *partial}
        missing = [seed for seed in self._seeds if seed not in began]
        kinds = (("complete", whole), ("partial", partial), ("not begun", missing))
        return "interrupted: " + "; ".join(
            f"{kind}: {listed(list(map(str, of)))}" for kind, of in kinds if of
        )


def run_replications(
    scenario: str | Path,
    seeds: Sequence[int],
    out: Path,
    *,
    changes: Sequence[str] = (),
    processes: int = 1,
    force: bool = False,
    allow_code: bool = False,
    done: Callable[[RunSummary], None] | None = None,
) -> list[RunSummary]:
    """Run every seed and return the summaries in the order of the seeds; `done` is called with each of them.

    The scenario is loaded here first, so that its problems are reported once. If a run fails, no further runs
    start, and its error is raised. An interruption raises `ReplicationsInterrupted`.
    """
    loaded = load_scenario(scenario, changes)
    check_allowed(loaded.processes, loaded.name, allow_code=allow_code)
    found: dict[int, RunSummary] = {}
    under_way: dict[Future[RunSummary], int] = {}
    interrupted = False
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_ignore_interruption
    ) as pool:
        to_do = iter(seeds)
        try:
            while True:
                # At most one run per process: what the pool has accepted cannot be cancelled.
                for seed in islice(to_do, processes - len(under_way)):
                    out_of_seed = out / f"seed-{seed}"
                    given = (scenario, tuple(changes), seed, out_of_seed, force, allow_code)
                    begun = pool.submit(_run_one, *given)
                    under_way[begun] = seed
                if not under_way:
                    break
                for ended in wait(under_way, return_when=FIRST_COMPLETED).done:
                    summary = found[under_way.pop(ended)] = ended.result()
                    if done is not None:
                        done(summary)
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                if child.pid is not None:
                    os.kill(child.pid, signal.SIGINT)
            interrupted = isinstance(error, KeyboardInterrupt)
            if not interrupted:
                raise
    if interrupted:
        for ended, seed in under_way.items():
            if not ended.cancelled() and ended.exception() is None:
                found[seed] = ended.result()
        raise ReplicationsInterrupted([found[seed] for seed in seeds if seed in found], seeds)
    return [found[seed] for seed in seeds]


def _ignore_interruption() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt_once(_number: int, _frame: FrameType | None) -> None:
    _ignore_interruption()
    raise KeyboardInterrupt


def _run_one(
    scenario: str | Path, changes: Sequence[str], seed: int, out: Path, force: bool, allow_code: bool
) -> RunSummary:
    loaded = load_scenario(scenario, changes)
    signal.signal(signal.SIGINT, _interrupt_once)
    try:
        return run_scenario(loaded, seed, out, force=force, allow_code=allow_code)
    finally:
        _ignore_interruption()
