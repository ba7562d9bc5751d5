"""A fault plan as a file: the complete description of one world, which later versions reproduce.

A seed alone is not enough: what is drawn from it changes whenever the drawing does. A plan that broke an
invariant is therefore stored whole, with the seed of the random numbers of its world.

    {"version": 1, "seed": 1234, "faults": "all", "broke": "", "plan": {"subscribers": 2, …}}

Missing keys have their defaults, unknown keys are refused. The decoder is total: any bytes give a plan or a
`DocumentError` with all problems.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from dens.config.json_documents import parse_json
from dens.config.problems import DocumentError, Problem, did_you_mean, listed
from dens.config.reading import place_of, refuse_large
from dens.overlay.limits import Limits
from dens.overlay.policies.registry import POLICIES
from dens.overlay.wire.codes import LAST_NODE
from emulation.fault_injection.plan import ROUTINGS, Faults, Plan

VERSION: Final = 1
CODE: Final = "D404"
_LARGEST: Final = 64 * 1024
_MOST_OF_A_ROLE: Final = 64
_LONGEST_MS: Final = 3_600_000
_LARGEST_NUMBER: Final = 1 << 48
_LAST_FIRST_NUMBER: Final = (1 << 31) - 20_000
"""The highest first number that is drawn: a world needs at most 20,000 more."""
_LAST_ID: Final = 255
_MOST_PARTS: Final = 2
_MOST_MOMENTS: Final = 3_000_000
"""The most operations of a plan: some minutes of work."""


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan, the seed of its world, the faults that were allowed when it was drawn, and the broken
    invariant.
    """

    seed: int
    plan: Plan
    faults: str = "all"
    broke: str = ""


def encode_plan(kept: KeptPlan) -> str:
    """Return the text of a plan's file."""
    plan = kept.plan
    table: dict[str, Any] = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    table["faults"] = {field.name: getattr(plan.faults, field.name) for field in fields(Faults)}
    table["limits"] = {field.name: getattr(plan.limits, field.name) for field in fields(Limits)}
    table["mission_key"] = None if plan.mission_key is None else plan.mission_key.hex()
    table["homes"] = {str(subscriber): home for subscriber, home in plan.homes.items()}
    document = {
        "version": VERSION,
        "seed": kept.seed,
        "faults": kept.faults,
        "broke": kept.broke,
        "plan": table,
    }
    return json.dumps(document, indent=1) + "\n"


def read_plan(content: bytes, file: str) -> KeptPlan:
    """Return the plan of a file, or raise `DocumentError`."""
    refuse_large(content, file, _LARGEST)
    document = parse_json(content, file, CODE)
    reader = _Reader(file, content.decode("utf-8-sig"))
    if (
        not isinstance(document, dict)
        or type(document.get("version")) is not int
        or document["version"] != VERSION
    ):
        reader.refuse("version", f'a plan begins with {{"version": {VERSION}, …}}')
        raise reader.error()
    table = reader.table(document, "version", {"version", "seed", "faults", "broke", "plan"})
    seed = reader.read(table, "seed", _whole(-_LARGEST_NUMBER, _LARGEST_NUMBER), 0)
    faults = reader.read(table, "faults", _word, "all")
    broke = reader.read(table, "broke", _word, "")
    plan = reader.plan(table.get("plan"))
    if reader.problems:
        raise reader.error()
    return KeptPlan(seed, plan, faults, broke)


Check = Callable[[Any], Any]
"""Returns a value as a plan has it, or raises ValueError with what is expected."""


def _whole(least: int, most: int) -> Check:
    def check(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return value

    return check


def _probability(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return float(value)


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false")
    return value


def _word(value: Any) -> str:
    if type(value) is not str or len(value) > 1_000:
        raise ValueError("a text of at most 1,000 characters")
    return value


def _optional(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _range(least: int, most: int) -> Check:
    def check(value: Any) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError("a list of two whole numbers, the second above the first")
        low, high = (_whole(least, most)(one) for one in value)
        if low >= high:
            raise ValueError("a list of two whole numbers, the second above the first")
        return low, high

    return check


def _ids(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != 3 or len(set(map(repr, value))) != 3:
        raise ValueError("a list of three different ids from 0 to 255")
    return tuple(_whole(0, 255)(one) for one in value)


def _policy(value: Any) -> str:
    if isinstance(value, str) and value in POLICIES:
        return value
    hint = did_you_mean(value, POLICIES) if isinstance(value, str) else ""
    raise ValueError(f"null, or one of {listed(sorted(POLICIES))}{hint}")


def _routing(value: Any) -> str:
    if not isinstance(value, str) or value not in ROUTINGS:
        raise ValueError(f"one of {listed(ROUTINGS)}")
    return value


def _key(value: Any) -> bytes:
    try:
        return bytes.fromhex(_word(value))
    except ValueError:
        raise ValueError("null, or a key in hexadecimal") from None


def _homes(value: Any) -> dict[int, int]:
    if not isinstance(value, dict) or len(value) > _MOST_OF_A_ROLE:
        raise ValueError("a table of subscribers and their mediators")
    node = _whole(0, LAST_NODE)
    if not all(end.isdecimal() and len(end) <= 10 for end in value):
        raise ValueError("a table of subscribers and their mediators")
    return {node(int(end)): node(home) for end, home in value.items()}


def _numbers(value: Any) -> tuple[int, ...]:
    expected = f"a list of different node numbers from 0 to {LAST_NODE}"
    if (
        not isinstance(value, list)
        or len(value) > 4 * _MOST_OF_A_ROLE
        or len(set(map(repr, value))) != len(value)
    ):
        raise ValueError(expected)
    return tuple(_whole(0, LAST_NODE)(one) for one in value)


_CODES: Final = _range(0, 255)
_PLAN: Final[dict[str, Check]] = {
    "subscribers": _whole(1, _MOST_OF_A_ROLE),
    "mediators": _whole(1, _MOST_OF_A_ROLE),
    "publishers": _whole(1, _MOST_OF_A_ROLE),
    "duration_ms": _whole(1, _LONGEST_MS),
    "heal_ms": _whole(0, _LONGEST_MS),
    "heal_loss": _probability,
    "contact_every_ms": _whole(1, _LONGEST_MS),
    "contact_ms": _range(0, _LONGEST_MS),
    "operation_every_ms": _whole(1, _LONGEST_MS),
    "mission_key": _optional(_key),
    "policy": _optional(_policy),
    "notification_q": _CODES,
    "subscription_q": _CODES,
    "withdraws": _truth,
    "subscribes_first": _truth,
    "everything_arrives": _truth,
    "never_late": _truth,
    "homes": _homes,
    "first_node": _whole(0, LAST_NODE),
    "numbers": _numbers,
    "first_number": _optional(_whole(1, _LAST_FIRST_NUMBER)),
    "ids": _ids,
    "clock_ms": _whole(-_LARGEST_NUMBER, _LARGEST_NUMBER),
    "is_poisoned": _truth,
    "has_parts": _truth,
    "covering": _truth,
    "looks_up": _truth,
    "languages": _truth,
    "siblings": _truth,
    "routing": _routing,
    "advertises": _truth,
    "empty_stores": _truth,
    "composes": _truth,
}
_LEAST_LIMITS: Final = {"number_step": 1, "retry_ms": 1, "retry_most_ms": 1, "hello_ms": 1, "window_bytes": 1}


class _Reader:
    """Reads fields and collects problems."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text
        self.problems: list[Problem] = []

    def refuse(self, name: str, message: str) -> None:
        """Record a problem at the first occurrence of this name."""
        line, column = place_of(self._text, max(0, self._text.find(f'"{name}"')))
        self.problems.append(Problem(self._file, line, column, "error", CODE, f"{name}: {message}"))

    def error(self) -> DocumentError:
        """Return all problems as an error."""
        return DocumentError(self.problems)

    def table(self, value: Any, name: str, known: set[str]) -> dict[str, Any]:
        """Return the known keys of a table; unknown ones are problems."""
        if not isinstance(value, dict):
            self.refuse(name, "this has to be a table")
            return {}
        for key in value.keys() - known:
            self.refuse(key, f"unknown key{did_you_mean(key, known)}")
        return {key: value[key] for key in value.keys() & known}

    def read(self, table: Mapping[str, Any], name: str, check: Check, default: Any) -> Any:
        """Return one field, or its default if it is missing or invalid."""
        if name not in table:
            return default
        try:
            return check(table[name])
        except ValueError as error:
            self.refuse(name, f"this has to be {error}")
            return default

    def plan(self, value: Any) -> Plan:
        """Return the plan in a table."""
        default = Plan()
        table = self.table(value, "plan", {field.name for field in fields(Plan)})
        faults = self._of_numbers(table.get("faults", {}), "faults", Faults(), _probability)
        limits = self._of_numbers(table.get("limits", {}), "limits", Limits(), None)
        values = {
            name: self.read(table, name, check, getattr(default, name)) for name, check in _PLAN.items()
        }
        plan = Plan(faults=faults, limits=limits, **values)
        if plan.first_node + plan.subscribers + plan.mediators + plan.publishers > LAST_NODE:
            self.refuse("first_node", f"the numbers of the nodes would exceed {LAST_NODE}, the highest")
        self._check_together(plan)
        return plan

    def _check_together(self, plan: Plan) -> None:
        """Check fields against each other: an impossible world would be reported as a broken invariant."""
        count = plan.subscribers + plan.mediators + plan.publishers + (plan.faults.flood > 0)
        if len(plan.nodes) != count:
            self.refuse("numbers", f"{len(plan.nodes)} numbers for {count} nodes")
        subscribers = plan.nodes[: plan.subscribers]
        mediators = plan.nodes[plan.subscribers :][: plan.mediators]
        if any(node not in subscribers or home not in mediators for node, home in plan.homes.items()):
            nodes, homes = (", ".join(map(str, numbers)) for numbers in (subscribers, mediators))
            self.refuse("homes", f"expected subscribers ({nodes}) and their mediators ({homes})")
        if (plan.has_parts or plan.composes) and max(plan.ids) + _MOST_PARTS > _LAST_ID:
            self.refuse(
                "ids",
                f"with has_parts or composes, ids are at most {_LAST_ID - _MOST_PARTS}: those of parts "
                "follow",
            )
        every_ms = min(plan.contact_every_ms, plan.operation_every_ms)
        moments = (count - (plan.faults.flood > 0)) * (plan.duration_ms + plan.heal_ms) // every_ms
        if moments > _MOST_MOMENTS:
            self.refuse(
                "duration_ms",
                f"about {moments:,} operations, at most {_MOST_MOMENTS:,} are allowed; shorten the run or "
                "make operations rarer",
            )

    def _of_numbers(self, value: Any, name: str, default: Any, check: Check | None) -> Any:
        keys = [field.name for field in fields(default)]
        table = self.table(value, name, set(keys))
        values = {
            key: self.read(
                table,
                key,
                check or _whole(_LEAST_LIMITS.get(key, 0), _LARGEST_NUMBER),
                getattr(default, key),
            )
            for key in keys
        }
        return type(default)(**values)
