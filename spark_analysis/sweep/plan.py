"""What a sweep is: a scenario, variants of it and seeds, read from one TOML file.

    scenario = "rescue"                 # a shipped one, or a file beside this one
    seeds = "1..5"                      # or a list; the same for every variant: they are compared in pairs

    [vary]                              # every combination of these …
    "overlay.policy" = ["epidemic", "direct"]
    "group.bearers.count" = [4, 8]

    [[variant]]                         # … and, instead or besides, single ones
    "radio.handheld.range_m" = 120

A path names a setting of the scenario as `dens run --set` takes it (docs/reference/scenario.md): one of a
list of tables goes by its `name`, or by its position counted from 0, as in `group[0].count`. Without `vary`
and `variant` there is one variant: the scenario as it is.
"""

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from dens.config.problems import DocumentError, Problem
from dens.config.reading import read_text
from dens.config.toml_documents import SchemaCodes, parse_toml, read_model
from dens.config.toml_positions import TomlPositions

CODES: Final = SchemaCodes(unknown_key="D331", missing_key="D332", bad_value="D333")
MOST_RUNS: Final = 100_000
"""Larger sweeps are considered a mistake."""
MOST_SEEDS: Final = 10_000
"""The same limit as in `dens run`."""

_RANGE: Final = re.compile(r"(\d+)\.\.(\d+)")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the scenario, its value in a variant, and its position in the sweep file."""

    path: str
    value: Any
    line: int = 0
    column: int = 0

    def text(self) -> str:
        """Return the setting as one line of TOML."""
        return f"{self.path} = {toml_value(self.value)}"

    def word(self) -> str:
        """Return the setting as `dens run --set` takes it: `group.helpers.count=8`."""
        return f"{self.path}={toml_value(self.value)}"


Changes = tuple[Setting, ...]
"""The settings of one variant."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A scenario by name or file, the settings of each variant, the seeds, and the sweep file."""

    scenario: str
    variants: tuple[Changes, ...]
    seeds: tuple[int, ...]
    file: str = ""

    @property
    def runs(self) -> int:
        return len(self.variants) * len(self.seeds)

    def problem(self, at: Setting, code: str, message: str) -> Problem:
        """Return a problem at the position of a setting."""
        return Problem(self.file, at.line, at.column, "error", code, message)


class _SweepTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    scenario: Annotated[str, Field(min_length=1)]
    seeds: list[int] | str = [1]
    vary: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    variant: list[dict[str, Any]] = []

    @field_validator("seeds", mode="before")
    @classmethod
    def _seeds(cls, seeds: Any) -> Any:
        """Reject anything but `"1..40"` or a list of distinct non-negative integers."""
        found = _RANGE.fullmatch(seeds) if isinstance(seeds, str) else None
        numbers = range(int(found[1]), int(found[2]) + 1) if found else seeds
        if isinstance(numbers, (list, range)) and len(numbers[: MOST_SEEDS + 1]) > MOST_SEEDS:
            raise PydanticCustomError("D333", f"at most {MOST_SEEDS:,} seeds are allowed")
        whole = isinstance(numbers, (list, range)) and all(type(n) is int and 0 <= n < 2**63 for n in numbers)
        if not whole or not numbers or len(set(numbers)) != len(numbers):
            raise PydanticCustomError(
                "D333", 'expected a list of distinct non-negative integers, or a range such as "1..40"'
            )
        return list(numbers)


def read_plan(path: Path) -> SweepPlan:
    """Read a sweep file; raise `DocumentError` with all its problems."""
    file = str(path)
    text = read_text(path)
    content = parse_toml(text, file)
    if "scenario" not in content and content.keys() & {"group", "radio"}:
        message = f'this is a scenario, not a sweep; a sweep file names one: scenario = "{path.name}"'
        raise DocumentError.of_file(file, CODES.unknown_key, message)
    table, positions = read_model(text, file, _SweepTable, CODES)
    crossed = [
        tuple(
            _setting(positions, ("vary", name, choice), name, table.vary[name][choice])
            for name, choice in zip(table.vary, choices, strict=True)
        )
        for choices in itertools.product(*(range(len(values)) for values in table.vary.values()))
    ]
    single = [
        tuple(_setting(positions, ("variant", number, name), name, value) for name, value in changes.items())
        for number, changes in enumerate(table.variant)
    ]
    variants = (crossed if table.vary or not single else []) + single
    plan = SweepPlan(_beside(path, table.scenario), tuple(variants), tuple(table.seeds), file)  # type: ignore[arg-type]
    if plan.runs > MOST_RUNS:
        message = f"{len(variants)} variants with {len(plan.seeds)} seeds each exceed {MOST_RUNS:,} runs"
        raise DocumentError.of_file(file, CODES.bad_value, message)
    return plan


def _setting(positions: TomlPositions, place: tuple[str | int, ...], path: str, value: Any) -> Setting:
    return Setting(path, value, *positions.at(place))


def _beside(path: Path, scenario: str) -> str:
    """Return the path of a scenario file relative to the sweep file; names of shipped scenarios are
    unchanged.
    """
    is_file = scenario.endswith(".toml") or "/" in scenario
    return str(path.parent / scenario) if is_file else scenario


def label(changes: Changes) -> str:
    """Return the settings of a variant as text."""
    return ", ".join(setting.text() for setting in changes) or "as it is"


def toml_value(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {toml_value(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
