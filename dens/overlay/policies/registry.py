"""The replication policies of this package, by the names that files use.

Those of outside packages are added by `dens.node.installed_policies`, because looking for them is no
business of a state machine. A new one is a file beside this one and a line here.
"""

from typing import Final

from dens.overlay.policies.dens import DENS
from dens.overlay.policies.direct import DIRECT
from dens.overlay.policies.epidemic import EPIDEMIC
from dens.overlay.policies.kind import PolicyKind
from dens.overlay.policies.prophet import PROPHET
from dens.overlay.policies.spray_and_wait import SPRAY_AND_WAIT

POLICIES: Final[dict[str, PolicyKind]] = {
    kind.name: kind for kind in (EPIDEMIC, DIRECT, SPRAY_AND_WAIT, PROPHET, DENS)
}
"""Name → what makes the policy of one node."""

USUAL: Final = EPIDEMIC.name
"""The policy where nobody says which."""
