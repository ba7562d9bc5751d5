"""Every replication policy there is: those of this package, and those of outside packages.

An outside package names its `PolicyKind` in the entry-point group `dens.policies`; scenarios and nodes' files
then know it by its name, with its parameters (docs/how-to/extending.md).
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
    """Return the policy of a node; one that cannot be made is the fault of whoever wrote it."""
    try:
        made = policies()[name](node, **parameters)
    except Exception as error:
        raise Refusal(f'the policy "{name}" cannot be made: {type(error).__name__}: {error}') from error
    if not callable(getattr(made, "share", None)):
        raise Refusal(f'the policy "{name}" made a {type(made).__name__}, which shares nothing')
    return made


def unknown_policy(name: str) -> str:
    """Return what is said of a name that no policy has."""
    known = policies()
    return f'there is no replication policy "{name}"{did_you_mean(name, known)} ({listed(list(known))})'


def parameter_faults(
    given: Mapping[str, Mapping[str, object]],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with parameters that were given by the names of policies: the path of the key, and
    the reason."""
    known = policies()
    for name, parameters in given.items():
        if name not in known:
            yield (name,), unknown_policy(name)
            continue
        names = [parameter.name for parameter in known[name].parameters]
        for parameter, fault in known[name].faults(parameters):
            hint = did_you_mean(parameter, names) if parameter not in names else ""
            yield (name, parameter), f"{fault}{hint}"
