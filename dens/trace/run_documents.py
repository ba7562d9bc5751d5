"""Reads `manifest.json` and `summary.json` of a run's folder."""

from pathlib import Path
from typing import Any

from dens.config.json_documents import LARGEST_JSON, parse_json
from dens.config.problems import DocumentError
from dens.config.untrusted_folder import read_in
from dens.trace.manifest_schema import MANIFEST, read_manifest_document, without_key
from dens.trace.schema import SCHEMA_VERSION


class NotARun(ValueError):
    """The folder is not what `dens run` writes, or something in it is damaged."""


def manifest_of(run: Path) -> dict[str, Any]:
    """Return the manifest of a run, without a key that an earlier version may have put there.

    Raises `NotARun` if the folder is not a run, `DocumentError` if its manifest is damaged or out of bounds.
    """
    try:
        document = read_manifest_document(run, SCHEMA_VERSION)
    except FileNotFoundError:
        why = f"it has no {MANIFEST}" if run.is_dir() else "the folder does not exist"
        raise NotARun(f"{run} is not a run: {why}; name a folder that dens run wrote") from None
    except OSError as error:
        raise NotARun(f"{run / MANIFEST} cannot be read: {error.strerror}") from error
    if isinstance(document.get("scenario"), dict):
        document["scenario"] = without_key(document["scenario"])
    return document


def summary_of(run: Path) -> dict[str, Any]:
    """Return the figures of a run; empty if it is still running or was killed."""
    file = str(run / "summary.json")
    try:
        document = parse_json(read_in(run, "summary.json", LARGEST_JSON), file, "D383")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NotARun(f"{file} cannot be read: {error.strerror}") from error
    if not isinstance(document, dict):
        raise DocumentError.of_file(file, "D383", "is not the summary of a run: it is not a JSON object")
    return document
