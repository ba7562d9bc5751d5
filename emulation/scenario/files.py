"""Files that a scenario names: looked for beside it, and missed at the place where they are named."""

from pathlib import Path

from emulation.scenario.checks import Places
from knowledge_manager.documents import DocumentError, did_you_mean
from knowledge_manager.toml_positions import Path as KeyPath


def beside(folder: Path, name: str, key: KeyPath, places: Places) -> Path:
    """Return the path of a file that the scenario names at this key, or raise `DocumentError`."""
    path = folder / name
    if path.is_file():
        return path
    try:
        near = sorted(str(found.relative_to(folder)) for found in path.parent.iterdir() if found.is_file())
    except (OSError, ValueError):
        near = []
    message = f'there is no file "{name}" beside the scenario{did_you_mean(name, near)}'
    raise DocumentError([places.problem(key, "D310", message)])
