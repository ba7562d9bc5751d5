"""Whether the DENS node of an endpoint answers. Silence is reported to the user, and makes a command fail."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from dens.config.problems import listed
from dens.node.links.neighbours import format_address
from dens.node.processes.addresses import Links
from dens.node.settings.node_file import NodePlan
from dens.overlay.session.engine import Engine
from dens.overlay.wire.codes import Role

SILENT_S: Final = 3.0
"""Silence after which the user is warned. A running node answers within milliseconds."""
_POLL_S: Final = 0.05


class NodeReachability:
    """Waits for the first greeting of an endpoint's node.

    Once reached, it counts as reached: a contact that is lost later is greeted again and recovers by itself.
    """

    def __init__(
        self,
        end: Engine,
        node: int | None,
        place: str,
        say: Callable[[str], None],
        patience_s: float = SILENT_S,
    ) -> None:
        """Expect `node` at that place, or any DENS node there if it is None."""
        self._end = end
        self._node = node
        self._name = "a DENS node" if node is None else f"node {node}"
        self._place = place
        self._say = say
        self._patience_s = patience_s
        self._is_reached = False

    @classmethod
    def of(cls, end: Engine, plan: NodePlan, links: Links, say: Callable[[str], None]) -> "NodeReachability":
        """Expect the node that these links lead to, or any node found by discovery."""
        node = plan.settings.node
        if links.uses_discovery:
            interfaces = listed([settings.interface for settings in plan.settings.discovery])
            return cls(end, None, f"in reach of {interfaces}", say)
        return cls(end, node, f"at {format_address(links.listed[node])}", say)

    @property
    def is_reached(self) -> bool:
        """Return whether the node has sent a greeting that verifies."""
        if not self._is_reached:
            node = self._node
            self._is_reached = (
                self._end.has_peer_in_role(Role.MEDIATOR)
                if node is None
                else self._end.role_of(node) is not None
            )
        return self._is_reached

    async def wait_until_reached(self) -> None:
        """Poll, because an engine has no event for a greeting."""
        while not self.is_reached:
            await asyncio.sleep(_POLL_S)

    @contextmanager
    def reporting_silence(self) -> Iterator[None]:
        """Meanwhile report, once, that the node is silent, and when it answers after all."""
        task = asyncio.get_running_loop().create_task(self._report_silence())
        try:
            yield
        finally:
            task.cancel()

    async def _report_silence(self) -> None:
        try:
            await asyncio.wait_for(self.wait_until_reached(), self._patience_s)
        except TimeoutError:
            self._say(f"{self._name} has not answered yet; it should be {self._place}")
            await self.wait_until_reached()
            self._say(f"{self._name} answers now")

    def say(self, line: str) -> None:
        self._say(line)

    def report_never_reached(self) -> None:
        """Report at the end that there was no answer, and what to check."""
        self._say(
            f"{self._name} never answered; is it running {self._place}, with this key and these vocabularies?"
        )
