"""Bugs that are planted into a copy of the tree, one at a time, and what of this suite catches each.

A bug is a text that replaces another one in one file. What catches it is a command that the suite runs in
this size anyway: some seeds of `dens torture`, or one test.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns

from tests.paths import ROOT

_COPIED = ("dens", "emulation", "knowledge_manager", "plugins", "watchdog")
_COPIED_TESTS = ("dens", "emulation/fault_injection")
_LINKED = (
    "spark_analysis",
    "pyproject.toml",
    "tests/conftest.py",
    "tests/paths.py",
    "tests/shared_spark.py",
    "tests/sizes.py",
)


@dataclass(frozen=True)
class PlantedBug:
    """One bug, and the command that catches it."""

    name: str
    file: str
    old: str
    new: str
    catcher: tuple[str, ...]
    """The arguments of the interpreter."""
    told: str
    """What the command reports where the bug is planted."""


def torture(seeds: str, *options: str) -> tuple[str, ...]:
    """Return the command that runs some seeds."""
    return ("-m", "dens.cli", "torture", "--seeds", seeds, *options)


def pytest_of(test: str) -> tuple[str, ...]:
    """Return the command that runs one test."""
    return ("-m", "pytest", "-q", "-p", "no:cacheprovider", test)


PLANTED = (
    PlantedBug(
        "acknowledges before the commit if one datagram leaves",
        "dens/overlay/session/engine.py",
        "        if out or self._commits_at_once:\n            self._durable.commit()\n",
        "        if len(out) > 1 or self._commits_at_once:\n            self._durable.commit()\n",
        torture("1..3"),
        "promise 1 broken",
    ),
    PlantedBug(
        "the third retransmission is left out",
        "dens/overlay/session/flights.py",
        "        flight.due_ms = due_ms = now_ms + rto_ms\n",
        "        flight.due_ms = due_ms = now_ms + rto_ms * (2 if tries == 3 else 1)\n",
        pytest_of("tests/dens/overlay/test_peer_session_pace.py::test_patience_doubles_up_to_the_longest"),
        "1 failed",
    ),
    PlantedBug(
        "one of two satisfied subscriptions is dropped",
        "dens/overlay/mediator/pending.py",
        "                    found[subscriber].append(satisfied)\n",
        "                    pass\n",
        torture("1..6"),
        "without its matching subscriptions",
    ),
    PlantedBug(
        "lifetimes are a millisecond longer",
        "dens/overlay/wire/item.py",
        "        self.expires_ms: int = created_ms + LIFETIME_MS[lifetime_q]\n",
        "        self.expires_ms: int = created_ms + LIFETIME_MS[lifetime_q] + 1\n",
        torture("24,29,31"),
        "ms of its clock, expected",
    ),
    PlantedBug(
        "known results are not read after a restart",
        "dens/overlay/storage/durable_state.py",
        "                self.results.restore(key, row_of(value))\n",
        "                pass\n",
        torture("12", "--composing"),
        "promise 3 broken",
    ),
    PlantedBug(
        "every third receipt is ignored",
        "dens/overlay/mediator/handlers.py",
        "        state.carried.delivered(notification, item.origin)\n        state.release_if_done",
        "        if len(state.receipts) % 3:\n"
        "            state.carried.delivered(notification, item.origin)\n"
        "        state.release_if_done",
        torture("1..6"),
        "whose receipt it acknowledged",
    ),
    PlantedBug(
        "every third receipt is acknowledged and forgotten",
        "dens/overlay/mediator/handlers.py",
        "        state.carried.delivered(notification, item.origin)\n        state.release_if_done",
        "        if len(state.receipts) % 3 == 0:\n"
        "            state.receipts.remove(item)\n"
        "            return STORED\n"
        "        state.carried.delivered(notification, item.origin)\n"
        "        state.release_if_done",
        torture("1..6"),
        "and does not hold it",
    ),
)
"""The six of the review of reliability, one of them in two forms."""


def copy_tree(folder: Path) -> None:
    """Copy what the commands need, with its bytecode. That of a file with a bug is not used: sizes differ."""
    unwanted = ignore_patterns("node_modules", "*.so", "corpus", "golden")
    for name in _COPIED:
        copytree(ROOT / name, folder / name, ignore=unwanted)
    for name in _COPIED_TESTS:
        copytree(ROOT / "tests" / name, folder / "tests" / name, ignore=unwanted)
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)


def plant(bug: PlantedBug, folder: Path) -> str:
    """Plant a bug in a copy; return the text that it changed, or raise ValueError where that is not there
    once.
    """
    path = folder / bug.file
    text = path.read_text(encoding="utf-8")
    if text.count(bug.old) != 1:
        raise ValueError(
            f"{bug.file} has the text of the planted bug {bug.name!r} {text.count(bug.old)} times and not "
            f"once; renew PLANTED in {Path(__file__).name}: {bug.old!r}"
        )
    path.write_text(text.replace(bug.old, bug.new), encoding="utf-8")
    return text


def run(arguments: Iterable[str], folder: Path) -> tuple[int, str]:
    """Run a command on a copy; return how it ended and all that it wrote."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "DENS_PURE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_CURRENT_TEST", None)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout
