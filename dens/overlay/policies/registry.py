"""Registry of the built-in replication policies, by their names in files.

`dens.node.installed_policies` adds those of other packages; an engine does not search for packages. A new
built-in policy needs a module in this folder and a line here.
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
"""Policies by name."""

DEFAULT_POLICY: Final = EPIDEMIC.name
