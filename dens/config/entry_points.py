"""Plug-ins of other packages: members of a registry, found by their entry points.

A package names an object in the group of a registry (`dens.policies`, `dens.mobility`, `dens.forwarding`,
`dens.languages`, `dens.metrics`, `dens.sources`, and those of languages; docs/how-to/extending.md). One that
cannot be loaded, has the wrong type, or uses a name that is taken, is refused. The message names the package,
because its reader did not write it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from dens.config.refusal import Refusal

M = TypeVar("M")


class OutsidePackageError(Refusal):
    """A member of an outside package cannot be used: which one, and why."""


def members(
    group: str, what: str, fits: Callable[[Any], bool], wanted: str, found: Iterable[EntryPoint] | None = None
) -> Iterator[tuple[EntryPoint, Any]]:
    """Yield each entry point of a group with its object, sorted by name.

    `what` is the word for a member in messages. An object that does not pass `fits` is refused; `wanted`
    describes what it must be. `found` replaces the installed entry points. Errors raise
    `OutsidePackageError`.
    """
    present = entry_points(group=group) if found is None else found
    for entry in sorted(present, key=lambda entry: (entry.name, entry.value)):
        try:
            member = entry.load()
        except (Exception, SystemExit) as error:
            reason = str(error) or type(error).__name__
            raise OutsidePackageError(f"{described(what, entry)} cannot be loaded: {reason}") from error
        if not fits(member):
            kind = (
                f"the class {member.__name__}" if isinstance(member, type) else f"a {type(member).__name__}"
            )
            raise OutsidePackageError(f"{described(what, entry)} is {kind}; name {wanted}")
        yield entry, member


def with_outside(
    built_in: Mapping[str, M],
    group: str,
    what: str,
    kind: type[M],
    found: Iterable[EntryPoint] | None = None,
) -> dict[str, M]:
    """Return the members of this package and of others by name. A member is a `kind` with a `name`; a name
    that is taken raises `OutsidePackageError`."""
    known = dict(built_in)
    wanted = f"a {kind.__name__} of {kind.__module__}"
    for entry, member in members(group, what, lambda member: isinstance(member, kind), wanted, found):
        if member.name in known:
            raise OutsidePackageError(f"{described(what, entry)}: the name {member.name!r} is taken already")
        known[member.name] = member
    return known


def described(what: str, entry: EntryPoint) -> str:
    """Return a description of a member that is not loaded: kind, name, object and package."""
    package = f" of the package {entry.dist.name}" if entry.dist is not None else ""
    return f"{what} {entry.name} ({entry.value}){package}"
