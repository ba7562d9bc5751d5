"""What a sweep is: a scenario, variants of it and seeds, read from one TOML file.

    scenario = "rescue"                 # a shipped one, or a file beside this one
    seeds = [1, 2, 3, 4, 5]             # the same for every variant: they are compared in pairs

    [vary]                              # every combination of these …
    "overlay.policy" = ["epidemic", "direct"]
    "group.helpers.count" = [4, 8]

    [[variant]]                         # … and, instead or besides, single ones
    "radio.handheld.range_m" = 120

A path names a setting of the scenario as docs/scenario.md writes it; in a list of tables the next word is the
`name` of one of them, or its position counted from 0. Without `vary` and `variant` there is one variant: the
scenario as it is.
"""

import copy
import itertools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_analysis.errors import SweepError

Changes = Mapping[str, Any]
"""Settings by their path."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A scenario file, the changes that make each variant, and the seeds."""

    scenario: str
    variants: tuple[Changes, ...]
    seeds: tuple[int, ...]


def read_plan(path: Path) -> SweepPlan:
    """Read a sweep file; raise `SweepError` that says what is wrong with it."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SweepError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise SweepError(f"{path}: not TOML ({error})") from error
    unknown = sorted(set(content) - {"scenario", "seeds", "vary", "variant"})
    if unknown:
        raise SweepError(
            f'{path}: "{unknown[0]}" is no key of a sweep; it has scenario, seeds, vary, variant'
        )
    scenario, seeds = content.get("scenario"), content.get("seeds", [1])
    if not isinstance(scenario, str):
        raise SweepError(f"{path}: scenario must be the name of a shipped scenario or a file")
    if not _are_seeds(seeds):
        raise SweepError(f"{path}: seeds must be a list of different whole numbers from 0 on")
    vary, single = content.get("vary", {}), content.get("variant", [])
    if not isinstance(vary, dict) or not all(isinstance(values, list) and values for values in vary.values()):
        raise SweepError(f"{path}: every setting under vary needs a list of values that is not empty")
    if not isinstance(single, list) or not all(isinstance(one, dict) for one in single):
        raise SweepError(f"{path}: a variant is a table of settings by their path")
    crossed = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    variants = (crossed if vary or not single else []) + single
    return SweepPlan(_beside(path, scenario), tuple(variants), tuple(seeds))


def _are_seeds(seeds: Any) -> bool:
    whole = isinstance(seeds, list) and all(type(seed) is int and seed >= 0 for seed in seeds)
    return whole and bool(seeds) and len(set(seeds)) == len(seeds)


def _beside(path: Path, scenario: str) -> str:
    """Return a file's path as seen from here, and a shipped scenario's name as it is."""
    is_file = scenario.endswith(".toml") or "/" in scenario
    return str(path.parent / scenario) if is_file else scenario


def changed(settings: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """Return a scenario's settings with the changes made; the original stays as it is.

    Raises `SweepError` when a path leads nowhere. The last word of a path may be a setting that the scenario
    left out; whether there is such a setting is the scenario's own check.
    """
    result = copy.deepcopy(dict(settings))
    for path, value in changes.items():
        *way, last = path.split(".")
        place: Any = result
        for word in way:
            place = _entered(place, word, path)
        if isinstance(place, list):
            place[_position(place, last, path)] = value
        elif isinstance(place, dict):
            place[last] = value
        else:
            raise SweepError(f'"{path}" leads nowhere: there is nothing below "{way[-1]}"')
    return result


def _entered(place: Any, word: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_position(place, word, path)]
    if isinstance(place, dict):
        return place.setdefault(word, {})
    raise SweepError(f'"{path}" leads nowhere: "{word}" is below a single value')


def _position(tables: list[Any], word: str, path: str) -> int:
    for position, table in enumerate(tables):
        if str(position) == word or (isinstance(table, dict) and table.get("name") == word):
            return position
    names = [str(table.get("name", i)) for i, table in enumerate(tables) if isinstance(table, dict)]
    raise SweepError(f'"{path}" leads nowhere: there is no "{word}" among {", ".join(names) or "the values"}')


def label(changes: Changes) -> str:
    """Return what makes a variant, in words."""
    return ", ".join(f"{path} = {toml_value(value)}" for path, value in changes.items()) or "as it is"


def toml_text(settings: Mapping[str, Any]) -> str:
    """Return settings as TOML, one line for each key; reading it gives the same settings."""
    return "".join(f"{_key(name)} = {toml_value(value)}\n" for name, value in settings.items())


def toml_value(value: Any) -> str:
    """Return one value as TOML, on one line."""
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
