"""DENS: content-based publish/subscribe for networks that are rarely connected.

This module is the public API (docs/reference/api.md). It imports nothing until a name is used.

>>> import dens
>>> table = dens.load_vocabularies("medical")
>>> fever = dens.compile(
...     '<subscription xmlns="urn:dens:subscription:1" event="patient">'
...     '<crisp-predicate attribute="patient_temperature" operator="ge">39</crisp-predicate>'
...     "</subscription>",
...     table,
... )
>>> len(fever.vector)
11
>>> [len(matches) for matches in dens.match(fever, [{"patient_temperature": t} for t in (36.8, 40.1)], table)]
[0, 1]
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dens.app.node.node import Node
    from dens.app.runs.run import Run, open_run, run
    from dens.app.subscriptions.check import CheckResult, check
    from dens.app.subscriptions.explain import Explanation, explain
    from dens.app.subscriptions.match import Match, match
    from dens.app.subscriptions.subscription import Subscription, compile
    from dens.app.tables import load_vocabularies
    from dens.config.problems import DocumentError, Problem
    from dens.overlay.events import NotificationDelivered

__all__ = [
    "CheckResult",
    "DocumentError",
    "Explanation",
    "Match",
    "Node",
    "NotificationDelivered",
    "Problem",
    "Run",
    "Subscription",
    "check",
    "compile",
    "explain",
    "load_vocabularies",
    "match",
    "open_run",
    "run",
]

_MODULES = {
    "CheckResult": "dens.app.subscriptions.check",
    "DocumentError": "dens.config.problems",
    "Explanation": "dens.app.subscriptions.explain",
    "Match": "dens.app.subscriptions.match",
    "Node": "dens.app.node.node",
    "NotificationDelivered": "dens.overlay.events",
    "Problem": "dens.config.problems",
    "Run": "dens.app.runs.run",
    "Subscription": "dens.app.subscriptions.subscription",
    "check": "dens.app.subscriptions.check",
    "compile": "dens.app.subscriptions.subscription",
    "explain": "dens.app.subscriptions.explain",
    "load_vocabularies": "dens.app.tables",
    "match": "dens.app.subscriptions.match",
    "open_run": "dens.app.runs.run",
    "run": "dens.app.runs.run",
}
"""Where each public name is defined."""


if not TYPE_CHECKING:  # type checkers report unknown names only without it

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module 'dens' has no attribute {name!r}")
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
