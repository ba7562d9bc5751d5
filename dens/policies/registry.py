"""The replication policies by the names that scenarios use."""

from collections.abc import Callable
from typing import Final

from dens.policies.direct import Direct
from dens.policies.epidemic import Epidemic
from dens.policies.likely import Likely
from dens.policies.policy import ReplicationPolicy
from dens.policies.prophet import Prophet
from dens.policies.spray_and_wait import SprayAndWait

POLICIES: Final[dict[str, Callable[[int], ReplicationPolicy]]] = {
    "epidemic": lambda node: Epidemic(),
    "direct": lambda node: Direct(),
    "spray_and_wait": lambda node: SprayAndWait(),
    "prophet": lambda node: Prophet(node),
    "dens": lambda node: Likely(node),
}
"""Name → makes the policy of one node, with the defaults of its file."""
