"""Whether the DENS node of an end is there: silence is told to the person, and is no success."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from dens.config.problems import listed
from dens.node.links.neighbours import spoken
from dens.node.processes.addresses import Links
from dens.node.settings.node_file import NodePlan
from dens.overlay.session.engine import Engine
from dens.overlay.wire.codes import Role

SILENT_S: Final = 3.0
"""After so much silence the person is told; a node that is there answers within a moment."""
_LOOK_S: Final = 0.05


class Answer:
    """The first answer of a node to one of its ends. Once it has come, it stays so: what is lost later is
    greeted again, and comes back by itself.
    """

    def __init__(
        self,
        end: Engine,
        node: int | None,
        place: str,
        say: Callable[[str], None],
        patience_s: float = SILENT_S,
    ) -> None:
        """The node is at that place, or is any DENS node that is heard there."""
        self._end = end
        self._node = node
        self._called = "a DENS node" if node is None else f"node {node}"
        self._place = place
        self._say = say
        self._patience_s = patience_s
        self._has_come = False

    @classmethod
    def of(cls, end: Engine, plan: NodePlan, links: Links, say: Callable[[str], None]) -> "Answer":
        """Return the answer of the node that these links lead to, or of whoever is found."""
        node = plan.settings.node
        if links.finds:
            heard = listed([one.interface for one in plan.settings.discovery])
            return cls(end, None, f"in reach of {heard}", say)
        return cls(end, node, f"at {spoken(links.listed[node])}", say)

    @property
    def has_come(self) -> bool:
        """Return whether the node has greeted this end, in words that verify."""
        if not self._has_come:
            node = self._node
            is_here = (
                self._end.has_peer_in_role(Role.MEDIATOR)
                if node is None
                else self._end.role_of(node) is not None
            )
            self._has_come = is_here
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
            self._say(f"{self._called} has not answered yet; it should be {self._place}")
            await self.come()
            self._say(f"{self._called} answers now")

    def say(self, line: str) -> None:
        """Tell the person something else."""
        self._say(line)

    def say_never(self) -> None:
        """Tell the person, at the end, that there was no answer and what to look at."""
        self._say(
            f"{self._called} never answered; is it running {self._place}, with this key and these "
            "vocabularies?"
        )
