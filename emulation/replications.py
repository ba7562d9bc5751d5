"""The same scenario with many seeds, each run in a process of its own.

Every seed gets the folder `seed-N`. A run knows nothing of the others, so its trace is the one that the same
seed gives alone, however many processes there are and in whichever order they end.

An interruption is passed on to every process once, however it came: each ends its run as a valid partial one,
and those that have not begun do not begin.
"""

import os
import re
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType
from typing import Final

from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario

MOST_SEEDS: Final = 10_000
_RANGE: Final = re.compile(r"(\d+)\.\.(\d+)")


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds that `7`, `1..50` or `1..3,9` names, each once and in that order, or raise
    `ValueError`."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None and not part.strip().isdecimal():
            raise ValueError(f'"{text}" names no seeds; write 7, or 1..50, or 1..3,9')
        first, last = (int(found[1]), int(found[2])) if found else (int(part), int(part))
        if last >= 2**63:
            raise ValueError(f"{last} is no seed: seeds are below 2⁶³")
        if last < first:
            raise ValueError(f'"{part.strip()}" goes backwards; write {last}..{first}')
        if last - first >= MOST_SEEDS:
            raise ValueError(f'"{part.strip()}" names more than {MOST_SEEDS} seeds')
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return tuple(seeds)


def run_replications(
    scenario: str | Path,
    seeds: Sequence[int],
    out: Path,
    *,
    changes: Sequence[str] = (),
    processes: int = 1,
    force: bool = False,
    done: Callable[[RunSummary], None] | None = None,
) -> list[RunSummary]:
    """Run every seed and return the summaries in the order of the seeds; `done` hears of each when it ends.

    The scenario is loaded here first, so that what is wrong with it is told once. A run that fails stops
    those that have not begun, and its error is raised.
    """
    load_scenario(scenario, changes)
    found: dict[int, RunSummary] = {}
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_ignore_interruption
    ) as pool:
        under_way: dict[Future[RunSummary], int] = {}
        to_do = iter(seeds)
        try:
            while True:
                # No more than there are processes: what the pool has taken can no longer be called off.
                for seed in islice(to_do, processes - len(under_way)):
                    out_of_seed = out / f"seed-{seed}"
                    begun = pool.submit(_run_one, scenario, tuple(changes), seed, out_of_seed, force)
                    under_way[begun] = seed
                if not under_way:
                    break
                for ended in wait(under_way, return_when=FIRST_COMPLETED).done:
                    summary = found[under_way.pop(ended)] = ended.result()
                    if done is not None:
                        done(summary)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                if child.pid is not None:
                    os.kill(child.pid, signal.SIGINT)
            raise
    return [found[seed] for seed in seeds]


def _ignore_interruption() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt_once(_number: int, _frame: FrameType | None) -> None:
    _ignore_interruption()
    raise KeyboardInterrupt


def _run_one(scenario: str | Path, changes: Sequence[str], seed: int, out: Path, force: bool) -> RunSummary:
    loaded = load_scenario(scenario, changes)
    signal.signal(signal.SIGINT, _interrupt_once)
    try:
        return run_scenario(loaded, seed, out, force=force)
    finally:
        _ignore_interruption()
