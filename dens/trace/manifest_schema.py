"""What `manifest.json` of a run may say, and within which bounds (docs/reference/trace-format.md).

A manifest comes with a folder, and a folder comes from anybody; whatever is computed from it later relies on
these bounds. They are those of scenarios where there are any. Keys that are not listed here are passed over:
a version of the format may gain keys, and whatever changes the meaning of one gets a new version.
"""

from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dens.config.json_documents import LARGEST_JSON, parse_json
from dens.config.problems import DocumentError, Problem
from dens.config.reading import LARGEST_DOCUMENT
from dens.config.toml_documents import key_path
from dens.config.untrusted_folder import read_in

MANIFEST: Final = "manifest.json"
CODE: Final = "D383"
LONGEST_MS: Final = 100 * 366 * 86_400_000
"""A hundred years: a run has a year at most, a real node may be followed for longer."""
NO_KEY: Final = "not kept in the manifest"
"""Stands in place of a scenario's mission key: many read a manifest, and no figure depends on the key."""

Name = Annotated[str, Field(max_length=1000)]
LARGEST_TAXONOMY_TEXT = 32 * 1024 * 1024
Text = Annotated[str, Field(max_length=LARGEST_DOCUMENT)]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Passing(BaseModel):
    """Types are what they are: neither a text nor a truth is a number."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Group(_Passing):
    name: Name = ""
    radio: Name | None = None


class _Radio(_Passing):
    rate_bytes_per_s: Annotated[float, Field(gt=0, le=1e12)] | None = None
    frame_bytes: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    overhead_bytes: Annotated[int, Field(ge=0, le=10_000)] = 0


class _Fault(_Passing):
    kind: Name
    who: list[Name] | None = None
    at_s: Annotated[float, Field(ge=0)] | None = None
    for_s: Annotated[float, Field(gt=0, le=365 * 86_400)] | None = None


class _Source(_Passing):
    csv: Name | None = None
    generator: Name | None = None
    columns: dict[str, Name] = {}


class _Sensor(_Passing):
    group: Name
    event: Name
    source: _Source


class _Overlay(_Passing):
    policy: Name | None = None
    condition: Name | None = None


class _Scenario(_Passing):
    """What readers of a trace use of it; `dens rerun` checks all of it as a scenario."""

    name: Name = ""
    title: Name | None = None
    duration_s: Annotated[float, Field(ge=0.001, le=365 * 86_400)] | None = None
    vocabularies: list[Name] = []
    overlay: _Overlay | None = None
    radio: dict[str, _Radio] = {}
    group: list[_Group] = []
    fault: list[_Fault] = []
    sensor: list[_Sensor] = []


class _Manifest(_Passing):
    status: Literal["running", "partial", "complete"]
    simulated_ms: Annotated[int, Field(ge=0, le=LONGEST_MS)]
    began_ms: Annotated[int, Field(ge=0, le=LONGEST_MS)] = 0
    seed: Count | None = None
    node: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    scenario: _Scenario = _Scenario()
    inputs: dict[str, Name] = {}
    subscription_documents: dict[str, Text | None] = {}
    vocabularies: dict[str, Name | int] = {}
    vocabulary_documents: dict[str, Text] = {}
    taxonomy_documents: dict[str, Annotated[str, Field(max_length=LARGEST_TAXONOMY_TEXT)]] = {}
    table_check: Count = 0
    versions: dict[str, Name] = {}
    parts: dict[str, Annotated[int, Field(ge=0, le=10**9)]] = {}


class _Version(_Passing):
    schema_version: Annotated[int, Field(ge=1, le=10**6)]


_Fitting = TypeVar("_Fitting", bound=BaseModel)


def read_manifest_document(run: Path, newest: int) -> dict[str, Any]:
    """Return the manifest of a run, validated and within limits.

    A missing file raises `FileNotFoundError`. A damaged one, a link, or a version above `newest` raises
    `DocumentError` with all problems.
    """
    file = str(run / MANIFEST)
    document = parse_json(read_in(run, MANIFEST, LARGEST_JSON), file, CODE)
    if not isinstance(document, dict):
        raise DocumentError.of_file(file, CODE, "is not the manifest of a run: it is not a JSON object")
    version = _fitting(_Version, document, file).schema_version
    if version > newest:
        raise DocumentError.of_file(
            file,
            CODE,
            f"the trace has schema version {version}, and this program reads up to {newest}; read it with "
            "the version that wrote it, or a newer one",
        )
    _fitting(_Manifest, document, file)
    return document


def without_key(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario's settings without the text of its mission key.

    Tags are as long with any key, and a trace holds none of them: a run that is done again with another key
    gives the same bytes.
    """
    security = scenario.get("security")
    if not isinstance(security, dict) or "mission_key" not in security:
        return scenario
    return {**scenario, "security": {**security, "mission_key": NO_KEY}}


def _fitting(model: type[_Fitting], document: dict[str, Any], file: str) -> _Fitting:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise DocumentError(
            Problem(file, 0, 0, "error", CODE, f"{_shown(one['loc'])}: {one['msg'].lower()}")
            for one in error.errors(include_input=False, include_url=False)[:20]
        ) from None


def _shown(path: tuple[int | str, ...]) -> str:
    """Return the path of a key so that a terminal shows it and does nothing else."""
    return "".join(one if one.isprintable() else "?" for one in key_path(path)[:200])
