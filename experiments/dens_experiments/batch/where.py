"""Where batches come from: how many notifications a DENS node takes at once, in runs of the emulator, and
what matching them takes beside their time in the air.
"""

import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dens_experiments.batch.workload import ATTRIBUTES, EVERYTHING, WORKLOADS, present
from dens_experiments.family import Request, UnknownFigure
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from plugins.boxes.blocks import BlocksIndex

TAKES: Final = frozenset({"run"})
SCENARIOS: Final = ("rescue", "two_islands", "weather_poles")
HELD: Final = 4_096
"""Subscriptions that a mediator holds at most (`dens.overlay.limits`)."""
_FROM_MEDIATORS: Final = "replicated"
_TAKEN: Final = ("stored", _FROM_MEDIATORS)
"""Steps of a message by which a mediator takes it: from its publisher, from another mediator."""
REOPENED: Final = 8
"""Notifications an instant from which on ordering them would be worth a thought."""


@dataclass(frozen=True, slots=True)
class Batches:
    """What the mediators of a run took, and from how many contacts with each other."""

    name: str
    taken: int
    instants: int
    largest: int
    contacts: int
    of_a_contact: float
    most_of_a_contact: int
    air_ms: float
    """Time in the air of one of them."""


def where(request: Request, tell: Tell) -> Panel:
    """Read runs, or run the scenarios that ship, and measure what matching takes."""
    matching_us = _matching_us()
    found = list(_read_all(request, tell))
    lines = {
        "taken in one instant, on average": [one.taken / max(one.instants, 1) for one in found],
        "taken in one instant, at most": [float(one.largest) for one in found],
        "brought by a contact, on average": [one.of_a_contact for one in found],
        "brought by a contact, at most": [float(one.most_of_a_contact) for one in found],
    }
    largest = max(one.largest for one in found)
    remarks = [
        f"{one.name}: {one.taken:,} notifications taken in {one.instants:,} instants; {one.contacts:,} "
        "contacts of mediators brought some. The largest batch waits "
        f"{one.largest * matching_us / 1e3:.3f} ms for matching beside {one.largest * one.air_ms:.1f} ms in "
        f"the air; all of the largest contact {one.most_of_a_contact * matching_us / 1e3:.3f} beside "
        f"{one.most_of_a_contact * one.air_ms:.1f} ms."
        for one in found
    ]
    share = max(one.largest * matching_us / 1e3 / max(one.largest * one.air_ms, 1e-9) for one in found)
    return Panel(
        "Where batches come from, and what matching them takes",
        "run",
        "notifications",
        tuple(one.name for one in found),
        {name: Line(tuple((value,) for value in values)) for name, values in lines.items()},
        "many events arrive at the same time, traffic and stock prices for instance (§1)",
        shapes=(
            Shape(
                "events arrive in batches, so that their order counts",
                f"at most {largest} in one instant at a DENS node; matching takes {share:.2%} of their time "
                "in the air, and the best order can spare a part of that",
                verdict(largest > REOPENED and share > 0.1, largest > REOPENED),
                "ordering gives a DENS node nothing: it holds few subscriptions, and the radio is slow",
            ),
        ),
        remarks=(
            f"Matching is `blocks` with {HELD:,} boxes of 12 attributes, the most that a mediator holds: "
            f"{matching_us:.2f} µs a notification here. An instant is a millisecond of the node that takes "
            "them; what comes in one frame comes in one instant.",
            *remarks,
        ),
        form="bars",
    )


def _matching_us() -> float:
    """Return the least processor time of one notification, in microseconds."""
    index = BlocksIndex(ATTRIBUTES)
    sides = WORKLOADS["wide"].boxes(HELD, 1)
    index.load(np.arange(HELD, dtype=np.uint32), sides, np.full(HELD, EVERYTHING, np.uint64))
    events = WORKLOADS["wide"].events(512, 1)
    spent = []
    for _ in range(5):
        begin = time.process_time()
        index.search(events, present(events))
        spent.append(time.process_time() - begin)
    return 1e6 * min(spent) / len(events)


def _read_all(request: Request, tell: Tell) -> Iterator[Batches]:
    if request.run:
        for folder in request.run:
            tell(folder)
            yield batches_of_run(Path(folder))
        return
    from emulation.run import run_scenario
    from emulation.scenario import load_scenario

    with tempfile.TemporaryDirectory(prefix="dens-where-") as folder:
        for name in SCENARIOS:
            tell(f"running {name}")
            changes = ["duration_s=7200"] if request.small else []
            run_scenario(load_scenario(name, changes), 1, Path(folder) / name)
            yield batches_of_run(Path(folder) / name)


def batches_of_run(folder: Path) -> Batches:
    """Return what the mediators of a run took, from its trace; a folder that is not a run raises
    `UnknownFigure`.
    """
    from dens.config.problems import DocumentError
    from dens.trace.recorded_run import recorded_run
    from dens.trace.run_documents import NotARun

    try:
        run = recorded_run(folder)
        messages = run.table("messages", ["at_ms", "kind", "node", "peer", "type", "bytes"]).to_pylist()
        nodes = run.table("nodes", ["node", "role"]).to_pylist()
        contacts = run.table("contacts", ["a", "b", "begin_ms", "end_ms"]).to_pylist()
    except (NotARun, DocumentError) as error:
        raise UnknownFigure(str(error)) from None
    mediators = {row["node"] for row in nodes if "mediator" in row["role"]}
    taken = [
        row
        for row in messages
        if row["kind"] in _TAKEN and row["type"] == "notification" and row["node"] in mediators
    ]
    rates = [one["rate_bytes_per_s"] for one in run.manifest.scenario.get("radio", {}).values()]
    instants = Counter((row["node"], row["at_ms"]) for row in taken)
    brought = [
        number
        for number in _by_contact(
            contacts, mediators, [row for row in taken if row["kind"] == _FROM_MEDIATORS]
        ).values()
        if number
    ]
    size = sum(row["bytes"] for row in taken) / max(len(taken), 1)
    return Batches(
        name=str(run.manifest.scenario.get("name", folder.name)),
        taken=len(taken),
        instants=len(instants),
        largest=max(instants.values(), default=0),
        contacts=len(brought),
        of_a_contact=sum(brought) / max(len(brought), 1),
        most_of_a_contact=max(brought, default=0),
        air_ms=1e3 * size / max(rates) if rates else 0.0,
    )


def _by_contact(
    contacts: Sequence[Mapping[str, Any]], mediators: set[int], taken: Sequence[Mapping[str, Any]]
) -> Mapping[int, int]:
    """Return how many notifications each contact of two mediators brought to either of them."""
    told: dict[frozenset[int], list[int]] = defaultdict(list)
    for row in taken:
        told[frozenset((row["node"], row["peer"]))].append(row["at_ms"])
    found = {}
    for place, one in enumerate(contacts):
        pair = frozenset((int(one["a"]), int(one["b"])))
        if pair <= mediators:
            found[place] = sum(one["begin_ms"] <= at <= one["end_ms"] + 1 for at in told.get(pair, ()))
    return found
