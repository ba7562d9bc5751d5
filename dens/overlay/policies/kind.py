"""Descriptor of a replication policy: its name in files, its meaning, its parameters and its factory.

The module of a policy ends with its `PolicyKind`. Parameters are integers, like everything policies compute
with, so that every machine decides alike. Their bounds are checked here, for scenarios, node files and
programs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dens.overlay.errors import LocalProtocolError
from dens.overlay.policies.policy import ReplicationPolicy


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer parameter. If not every number between the bounds is valid, `among` lists the valid ones."""

    name: str
    default: int
    least: int
    most: int
    meaning: str
    among: tuple[int, ...] = ()

    def fault(self, value: object) -> str | None:
        """Return why a value is invalid, or None.

        >>> Parameter("copies", 8, 1, 64, "at first").fault(65)
        'from 1 to 64, not 65'
        """
        if not isinstance(value, int) or isinstance(value, bool):
            return "an integer is required"
        if self.among and value not in self.among:
            return f"one of {', '.join(map(str, self.among))} is required, not {value}"
        if not self.least <= value <= self.most:
            return f"from {self.least} to {self.most}, not {value}"
        return None


@dataclass(frozen=True, slots=True)
class PolicyKind:
    """A named policy. `make` is called with the node's number and every parameter by name."""

    name: str
    meaning: str
    make: Callable[..., ReplicationPolicy]
    parameters: tuple[Parameter, ...] = ()

    def __call__(self, node: int, **given: int) -> ReplicationPolicy:
        """Return the policy of one node. Parameters not given have their defaults; an invalid one raises
        `LocalProtocolError`.
        """
        for name, fault in self.faults(given):
            raise LocalProtocolError(f"{self.name}.{name}: {fault}")
        values = {parameter.name: parameter.default for parameter in self.parameters}
        return self.make(node, **{**values, **given})

    def faults(self, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Yield (parameter, fault) for every invalid parameter."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in given.items():
            if name not in known:
                yield name, f"{self.name} has no such parameter ({', '.join(known) or 'it has none'})"
            elif (fault := known[name].fault(value)) is not None:
                yield name, fault
