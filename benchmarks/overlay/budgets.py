"""Copy budgets: how many mediators carry a message, and how many copies stay unused when frames are lost.

Thirty devices in range of each other, with budgets of two and eight copies, and two hours of `one_a` with
eight copies and rising loss. No message may have more carriers than copies. A copy is *unused* where a
message is an hour old at the end of the run and has fewer carriers than copies: its copies were sent to
mediators that did not get them and were not met again, or that got the message from another node meanwhile.
These are counts that no machine changes. They are figures of docs/explanation/validation.md.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from benchmarks.measurement import Measurement, alone, at_most
from benchmarks.sizes import sized
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.policy_scenarios import write_clique

HOUR_MS = 3_600_000
LOSSES = sized((0.0, 0.05, 0.2, 0.5), (0.0,))
DURATION_S = sized(7200, 4500)


def measure() -> Iterator[Measurement]:
    """Count carriers, unused copies and deliveries."""
    for copies in (2, 8):
        with TemporaryDirectory() as place:
            path = write_clique(Path(place), copies)
            carriers, _, delivered = _carriers(path, [], Path(place) / "run")
        yield at_most(f"overlay_carriers_clique_of_{copies}_copies", max(carriers), copies, 1.0)
        yield alone(f"overlay_least_carriers_clique_of_{copies}_copies", min(carriers))
        yield alone(f"overlay_deliveries_clique_of_{copies}_copies", delivered)
    for loss in LOSSES:
        changes = [f"duration_s={DURATION_S}", "overlay.policy=spray_and_wait", f"radio.device.loss={loss}"]
        with TemporaryDirectory() as place:
            carriers, old, delivered = _carriers("one_a", changes, Path(place) / "run")
        name = f"one_a_with_loss_{loss:g}"
        yield at_most(f"overlay_carriers_{name}", max(carriers), 8, 1.0)
        yield alone(f"overlay_unused_copies_{name}_of_{8 * len(old)}", sum(8 - count for count in old))
        yield alone(f"overlay_deliveries_{name}", delivered)


def _carriers(scenario: str | Path, changes: list[str], run: Path) -> tuple[list[int], list[int], int]:
    """Return how many carriers each message of a run had, those that were an hour old at its end, and how
    many messages were delivered.
    """
    loaded = load_scenario(scenario, changes)
    run_scenario(loaded, loaded.seed, run)
    made = {
        (row["origin"], row["number"]): row["at_ms"]
        for row in pq.read_table(run / "trace" / "notifications").to_pylist()
    }
    carriers: dict[tuple[int, int], set[int]] = {message: set() for message in made}
    delivered = 0
    for row in pq.read_table(run / "trace" / "messages").to_pylist():
        if row["type"] == "notification" and row["kind"] in ("stored", "replicated"):
            carriers[row["origin"], row["number"]].add(row["node"])
        delivered += row["kind"] == "delivered"
    old = [len(carriers[message]) for message in made if made[message] + HOUR_MS <= loaded.duration_ms]
    return [len(nodes) for nodes in carriers.values()], old, delivered
