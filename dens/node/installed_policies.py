"""All installed replication policies, of this package and of others.

Another package names its `PolicyKind` in the entry-point group `dens.policies`. Scenarios and node files then
use it by name, with its parameters (docs/how-to/extending.md).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Final

from dens.config.entry_points import with_outside
from dens.config.problems import did_you_mean, listed
from dens.config.refusal import Refusal
from dens.overlay.policies.kind import PolicyKind
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.policies.registry import POLICIES

ENTRY_POINT_GROUP: Final = "dens.policies"


def policies(found: Iterable[EntryPoint] | None = None) -> dict[str, PolicyKind]:
    """Return every policy by its name. `found` replaces the installed entry points when given."""
    if found is None:
        return dict(_installed())
    return with_outside(POLICIES, ENTRY_POINT_GROUP, "policy", PolicyKind, found)


@cache
def _installed() -> dict[str, PolicyKind]:
    return with_outside(POLICIES, ENTRY_POINT_GROUP, "policy", PolicyKind)


def made_policy(name: str, node: int, parameters: Mapping[str, Any]) -> ReplicationPolicy:
    """Return the policy of a node. Any exception is a defect of its package."""
    try:
        policy = policies()[name](node, **parameters)
    except Exception as error:
        raise Refusal(f'the policy "{name}" cannot be made: {type(error).__name__}: {error}') from error
    if not callable(getattr(policy, "share", None)):
        raise Refusal(f'the policy "{name}" made a {type(policy).__name__}, which has no method "share"')
    return policy


def unknown_policy(name: str) -> str:
    """Return the error message for an unknown name."""
    known = policies()
    return f'unknown replication policy "{name}"{did_you_mean(name, known)} ({listed(list(known))})'


def parameter_faults(
    given: Mapping[str, Mapping[str, object]],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the problems of parameters per policy: the path of the key, and the reason."""
    known = policies()
    for name, parameters in given.items():
        if name not in known:
            yield (name,), unknown_policy(name)
            continue
        names = [parameter.name for parameter in known[name].parameters]
        for parameter, fault in known[name].faults(parameters):
            hint = did_you_mean(parameter, names) if parameter not in names else ""
            yield (name, parameter), f"{fault}{hint}"
