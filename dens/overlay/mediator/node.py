"""A DENS node: it stores subscriptions, finds publishers, matches notifications, carries and forwards.

It has a state (dens/overlay/mediator/state.py), a transmitter (dens/overlay/session/transmitter.py) and a
replication policy. A mediator hosts the subscribers on its own device, and says so to the mediators it
meets: meeting it is meeting them (docs/decisions/0012-hosted-ends.md).
"""

from typing import Final

from dens.interfaces import Directory, Identities
from dens.overlay.mediator.mediator import Mediator
from dens.overlay.mediator.replication import Replication
from dens.overlay.mediator.state import MediatorState
from dens.overlay.mission import Mission
from dens.overlay.policies.epidemic import Epidemic
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.session.arguments import check_hosts
from dens.overlay.session.engine import Engine
from dens.overlay.storage.store import Store


class DensNode(Engine):
    """A mediator of the overlay."""

    def __init__(
        self,
        node: int,
        mission: Mission,
        store: Store,
        now_ms: int,
        *,
        directory: Directory,
        policy: ReplicationPolicy | None = None,
        hosts: frozenset[int] = frozenset(),
        identities: Identities | None = None,
    ) -> None:
        context = mission.context(node, store)
        check_hosts(hosts, node)
        self.state: Final = MediatorState(context, mission, directory, hosts)
        replication = Replication(
            context, policy or Epidemic(), self.state.carried, self.state.composition, hosts
        )
        mediator = Mediator(context, self.state, replication, identities)
        super().__init__(context, mission.table_check, mediator, now_ms)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions and notifications are held, and the bytes of the latter."""
        return len(self.state.table), len(self.state.carried), self.state.carried.total_bytes

    @property
    def subscription_count(self) -> int:
        """Return how many subscriptions are known, lingering ones included."""
        return len(self.state.table)

    @property
    def notification_count(self) -> int:
        """Return how many notifications are carried."""
        return len(self.state.carried)

    @property
    def notification_bytes(self) -> int:
        """Return their bytes."""
        return self.state.carried.total_bytes
