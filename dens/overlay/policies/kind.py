"""A replication policy as files name it: its name, what it does, its parameters, and how a node gets one.

Every policy's file ends with its `PolicyKind`. Parameters are whole numbers, as all that policies compute
with, so that every machine decides alike; their bounds stand here once, for scenarios, for nodes' files and
for programs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dens.overlay.errors import LocalProtocolError
from dens.overlay.policies.policy import ReplicationPolicy


@dataclass(frozen=True, slots=True)
class Parameter:
    """A whole number that may be set. Where not every number between the bounds will do, `among` has those
    that will."""

    name: str
    default: int
    least: int
    most: int
    meaning: str
    among: tuple[int, ...] = ()

    def fault(self, value: object) -> str | None:
        """Return why this value cannot be taken, or None.

        >>> Parameter("copies", 8, 1, 64, "at first").fault(65)
        'from 1 to 64, not 65'
        """
        if not isinstance(value, int) or isinstance(value, bool):
            return "a whole number is wanted"
        if self.among and value not in self.among:
            return f"one of {', '.join(map(str, self.among))} is wanted, not {value}"
        if not self.least <= value <= self.most:
            return f"from {self.least} to {self.most}, not {value}"
        return None


@dataclass(frozen=True, slots=True)
class PolicyKind:
    """A policy by its name. `make` is given a node's number and every parameter by its name."""

    name: str
    meaning: str
    make: Callable[..., ReplicationPolicy]
    parameters: tuple[Parameter, ...] = ()

    def __call__(self, node: int, **given: int) -> ReplicationPolicy:
        """Return the policy of one node, with the defaults of its file where nothing is given; what cannot be
        raises `LocalProtocolError`."""
        for name, fault in self.faults(given):
            raise LocalProtocolError(f"{self.name}.{name}: {fault}")
        values = {parameter.name: parameter.default for parameter in self.parameters}
        return self.make(node, **{**values, **given})

    def faults(self, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield (parameter, what is wrong with it) for everything that cannot be."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in given.items():
            if name not in known:
                yield name, f"{self.name} has no such parameter ({', '.join(known) or 'it has none'})"
            elif (fault := known[name].fault(value)) is not None:
                yield name, fault
