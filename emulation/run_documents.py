"""What the folder of a run says about itself: `manifest.json` and `summary.json`."""

import json
from pathlib import Path
from typing import Any


class NotARun(ValueError):
    """The folder is not what `dens run` writes, or something in it is damaged."""


def manifest_of(run: Path) -> dict[str, Any]:
    """Return the manifest of a run; a folder that is none raises `NotARun`."""
    return _read(run, "manifest.json")


def summary_of(run: Path) -> dict[str, Any]:
    """Return the figures of a run; none where it is still running or was killed."""
    return _read(run, "summary.json") if (run / "summary.json").exists() else {}


def _read(run: Path, name: str) -> dict[str, Any]:
    try:
        document = json.loads((run / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        why = f"it has no {name}" if run.is_dir() else "there is no such folder"
        raise NotARun(f"{run} is no run: {why}; name a folder that dens run wrote") from None
    except OSError as error:
        raise NotARun(f"{run / name} cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise NotARun(
            f"{run / name} is damaged: no JSON from line {error.lineno} on; do the run again"
        ) from error
    except ValueError as error:
        raise NotARun(f"{run / name} is damaged: it is no text; do the run again") from error
    if not isinstance(document, dict):
        raise NotARun(f"{run / name} is damaged: it is no table of keys; do the run again")
    return document
