"""Whether the DENS node of an end is there: silence is told to the person, and is no success."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from dens.drivers.neighbours import Address, spoken
from dens.engine import Engine

SILENT_S: Final = 3.0
"""After so much silence the person is told; a node that is there answers within a moment."""
_LOOK_S: Final = 0.05


class Answer:
    """The first answer of a node to one of its ends. Once it has come, it stays so: what is lost later is
    greeted anew, and comes back by itself.
    """

    def __init__(
        self,
        end: Engine,
        node: int,
        place: Address,
        say: Callable[[str], None],
        patience_s: float = SILENT_S,
    ) -> None:
        self._end = end
        self._node = node
        self._place = spoken(place)
        self._say = say
        self._patience_s = patience_s
        self._has_come = False

    @property
    def has_come(self) -> bool:
        """Say whether the node has greeted this end, in words that verify."""
        self._has_come = self._has_come or self._end.role_of(self._node) is not None
        return self._has_come

    async def come(self) -> None:
        """Wait for it. An engine tells events of messages, and a greeting is none; so it is looked for."""
        while not self.has_come:
            await asyncio.sleep(_LOOK_S)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Tell the person meanwhile, once, that the node is silent, and when it no longer is."""
        watch = asyncio.get_running_loop().create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()

    async def _watch(self) -> None:
        try:
            await asyncio.wait_for(self.come(), self._patience_s)
        except TimeoutError:
            self._say(f"node {self._node} has not answered yet; it should be at {self._place}")
            await self.come()
            self._say(f"node {self._node} answers now")

    def say_never(self) -> None:
        """Tell the person, at the end, that there was no answer and what to look at."""
        self._say(
            f"node {self._node} never answered; is it running at {self._place}, with this key and these "
            "vocabularies?"
        )
