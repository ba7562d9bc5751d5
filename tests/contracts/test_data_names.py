"""Names that users and other programs depend on are data: they change on purpose only.

`make golden` renews tests/golden/data_names.json. A removed or renamed entry belongs into the changelog.
"""

import dataclasses
import importlib
import json
import pkgutil
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from pydantic import BaseModel

from dens.cli.main import app
from dens.overlay.wire import codes as numbers
from dens.trace.schema import TABLES
from emulation.scenario import scenario_schema
from plugins.registry import languages
from spark_analysis.answers import questions
from spark_analysis.catalogue.registry import built_in
from spark_analysis.json_keys import key_of
from tests.paths import ROOT

GOLDEN = ROOT / "tests" / "golden" / "data_names.json"
PACKAGES = ("knowledge_manager", "dens.node", "emulation", "spark_analysis", "dens.trace")
SOURCES = ("dens", "emulation", "knowledge_manager", "plugins", "spark_analysis", "watchdog")


def test_names_that_are_data_do_not_change(request: pytest.FixtureRequest) -> None:
    found = json.loads(json.dumps(data_names()))
    if request.config.getoption("--renew-golden", default=False):
        GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    assert found == json.loads(GOLDEN.read_text())


def data_names() -> dict[str, Any]:
    return {
        "commands": dict(commands("dens", typer.main.get_command(app))),
        "entry_point_groups": sorted(entry_point_groups()),
        "environment_variables": sorted(environment_variables()),
        "error_codes": sorted(path.stem for path in (ROOT / "docs" / "errors").glob("D*.md")),
        "file_keys": sorted(file_keys()),
        "languages": {one.name: number for number, one in languages().items()},
        "message_types": {one.name: int(one) for one in numbers.MessageType},
        "metrics": sorted(metric.name for metric in built_in()),
        "report_keys": sorted(set(report_keys())),
        "scenario_keys": sorted(set(schema_keys(scenario_schema()))),
        "status_names": {str(int(status)): name for status, name in numbers.STATUS_NAMES.items()},
        "reason_names": {str(int(reason)): name for reason, name in numbers.REASON_NAMES.items()},
        "trace_columns": {name: schema.names for name, schema in TABLES.items()},
    }


def commands(path: str, command: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield every command with its options and arguments."""
    context = typer.Context(command)
    listed = command.list_commands(context) if hasattr(command, "commands") else ()
    nested = {name: command.get_command(context, name) for name in listed}
    if not nested:
        yield path, sorted(option for one in command.params for option in (one.opts or [one.name]))
    for name, below in nested.items():
        yield from commands(f"{path} {name}", below)


def modules(*packages: str) -> Iterator[types.ModuleType]:
    for package in packages:
        root = importlib.import_module(package)
        for found in pkgutil.walk_packages(root.__path__, f"{package}."):
            yield importlib.import_module(found.name)


def file_keys() -> set[str]:
    """Return the keys of every file format that a pydantic model describes."""
    models = {
        value
        for module in modules(*PACKAGES)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.__name__
    }
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def schema_keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties if isinstance(properties, dict) else ()
        for value in schema.values():
            yield from schema_keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from schema_keys(value)


def field_names(kind: Any, known: set[Any]) -> Iterator[str]:
    """Yield the fields of a dataclass and of those within it, which are the keys of its JSON."""
    for argument in typing.get_args(kind):
        yield from field_names(argument, known)
    if not dataclasses.is_dataclass(kind) or kind in known:
        return
    known.add(kind)
    hints = typing.get_type_hints(kind)
    for one in dataclasses.fields(kind):
        yield key_of(one)
        yield from field_names(hints[one.name], known)


def report_keys() -> Iterator[str]:
    """Yield the keys of `dens report --json` and of the answers behind it."""
    known: set[Any] = set()
    for question in questions():
        yield question.name
        yield from field_names(typing.get_type_hints(question.collect)["return"], known)


def texts() -> Iterator[str]:
    for package in SOURCES:
        for path in (ROOT / package).rglob("*.py"):
            yield path.read_text()


def entry_point_groups() -> set[str]:
    declared = re.compile(r'(?:ENTRY_POINT_GROUP: Final = |members\()"(dens\.[a-z_]+)"')
    return {group for text in texts() for group in declared.findall(text)}


def environment_variables() -> set[str]:
    return {name for text in texts() for name in re.findall(r'"(DENS_[A-Z_]+)"', text)}
