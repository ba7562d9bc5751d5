"""What a run was made of, kept in its folder, so that it can be done again when the files are gone.

Every file that the scenario names is copied to `inputs/`, under the first digits of its checksum and its own
name; the manifest says which name of the scenario is which copy.
"""

import shutil
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Final

from emulation.run_documents import NotARun, manifest_of
from emulation.scenario import Scenario, scenario_from_settings
from emulation.trace.writer import TraceError

FOLDER: Final = "inputs"


def keep_inputs(inputs: Mapping[str, Path], run: Path) -> dict[str, str]:
    """Copy these files into a run's folder; return the name of each one's copy."""
    folder = run / FOLDER
    kept: dict[str, str] = {}
    try:
        folder.mkdir(exist_ok=True)
        for name, path in sorted(inputs.items()):
            with path.open("rb") as file:
                digits = file_digest(file, "sha256").hexdigest()[:16]
            kept[name] = f"{digits}-{path.name.removeprefix(f'{digits}-')}"
            shutil.copyfile(path, folder / kept[name])
    except OSError as error:
        raise TraceError(
            error.errno, f"cannot keep the scenario's files: {error.strerror or error}", str(error.filename)
        ) from error
    return kept


def scenario_of(run: Path) -> tuple[Scenario, int]:
    """Return the scenario and the seed of a run, from its folder alone."""
    manifest = manifest_of(run)
    inputs, settings, seed = (manifest.get(key) for key in ("inputs", "scenario", "seed"))
    if not isinstance(inputs, dict) or not isinstance(settings, dict):
        raise NotARun(f"{run} keeps no copies of its files; run its scenario again with this version")
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise NotARun(f"{run} is no run: the seed in its manifest is {seed!r}")
    copies = {name: run / FOLDER / Path(str(copy)).name for name, copy in inputs.items()}
    return scenario_from_settings(settings, copies, str(run / "manifest.json")), seed
