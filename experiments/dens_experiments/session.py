"""A session runs in steps, prints a line for each, and accepts changes while it runs.

Changes come as JSON lines. One with `at` waits for that step, so that a file of changes repeats a session;
one without is made at once. An invalid change is reported in a line, and the session goes on.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Protocol


class Refused(ValueError):
    """A change that means nothing; the message says what there is."""


class Session(Protocol):
    """What is run."""

    def change(self, change: Any) -> None:
        """Change something from the next step on, or raise `Refused`."""
        ...

    def step(self) -> dict[str, Any]:
        """Run one step and report it."""
        ...


class Changes:
    """Lines of input in their order: those that are available, or those that are due."""

    def __init__(self) -> None:
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._later: list[tuple[int, dict[str, Any]]] = []

    def write(self, line: str) -> None:
        """Hear a line."""
        self._lines.put(line)

    def listen(self, lines: Iterable[str]) -> None:
        """Hear lines as they come, while something else goes on."""
        Thread(target=lambda: deque(map(self._lines.put, lines), maxlen=0), daemon=True).start()

    def due(self, step: int) -> Iterator[Any]:
        """Yield what is to be changed before this step; what is not JSON is a `Refused`."""
        while True:
            try:
                line = self._lines.get_nowait()
            except Empty:
                break
            if not line.strip():
                continue
            try:
                change = json.loads(line)
            except ValueError:
                yield Refused("this line is not JSON")
                continue
            at = change.pop("at", None) if isinstance(change, dict) else None
            if at is None:
                yield change
            elif isinstance(at, bool) or not isinstance(at, int) or at < 1:
                yield Refused("at is the number of a step, from 1 on")
            else:
                self._later.append((at, change))
        yield from (change for at, change in self._later if at <= step)
        self._later = [(at, change) for at, change in self._later if at > step]


def lived(
    session: Session, changes: Changes, steps: int | None, wait: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    """Yield the line of each step and the refused changes; `wait` is called between steps."""
    step = 0
    while steps is None or step < steps:
        step += 1
        for change in changes.due(step):
            try:
                if isinstance(change, Refused):
                    raise change
                session.change(change)
            except Refused as error:
                yield {"refused": str(error), "step": step}
        yield session.step()
        if step != steps:
            wait()
