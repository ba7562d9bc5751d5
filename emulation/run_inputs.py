"""Copies of a scenario's files in the run folder, so that the run can be repeated when the files are gone.

Every file that the scenario names is copied to `inputs/`, under the first digits of its checksum and its own
name. The manifest maps the names in the scenario to the copies.
"""

import os
import shutil
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Final

from dens.config.atomic_write import whole_file
from dens.config.problems import DocumentError
from dens.config.untrusted_folder import file_in, path_in
from dens.trace.run_documents import NotARun, manifest_of
from dens.trace.writer import TraceError
from emulation.scenario import Scenario, scenario_from_settings

FOLDER: Final = "inputs"


def keep_inputs(inputs: Mapping[str, Path], run: Path) -> dict[str, str]:
    """Copy these files into a run folder; return the name of each copy.

    The copy of a file that only its owner may read is private too.
    """
    folder = run / FOLDER
    kept: dict[str, str] = {}
    try:
        folder.mkdir(exist_ok=True)
        for name, path in sorted(inputs.items()):
            with path.open("rb") as file:
                digits = file_digest(file, "sha256").hexdigest()[:16]
                kept[name] = f"{digits}-{path.name.removeprefix(f'{digits}-')}"
                is_private = not os.fstat(file.fileno()).st_mode & 0o077
                file.seek(0)
                with whole_file(folder / kept[name], within=run, private=is_private) as copy:
                    shutil.copyfileobj(file, copy)
    except OSError as error:
        raise TraceError(
            error.errno, f"cannot keep the scenario's files: {error.strerror or error}", str(error.filename)
        ) from error
    return kept


def scenario_of(run: Path) -> tuple[Scenario, int]:
    """Return the scenario and the seed of a run folder."""
    manifest = manifest_of(run)
    inputs, settings, seed = (manifest.get(key) for key in ("inputs", "scenario", "seed"))
    if not isinstance(inputs, dict) or not isinstance(settings, dict):
        raise NotARun(f"{run} keeps no copies of its files; run its scenario again with this version")
    if seed is None:
        raise NotARun(f"{run} is not a run: its manifest has no seed")
    copies = {name: _copy(run, copy) for name, copy in inputs.items()}
    return scenario_from_settings(settings, copies, str(run / "manifest.json")), seed


def _copy(run: Path, copy: str) -> Path:
    """Return the path of a copy, which may be gone. Manifests are untrusted: paths out of the folder are
    refused.
    """
    if "/" in copy:
        message = f"inputs: {copy!a} is not the name of a file in {FOLDER}; a run names only its own files"
        raise DocumentError.of_file(str(run / "manifest.json"), "D382", message)
    try:
        return file_in(run, f"{FOLDER}/{copy}")
    except FileNotFoundError:
        return path_in(run, f"{FOLDER}/{copy}")
