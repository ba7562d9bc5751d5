"""Files that a scenario names, relative to its folder. A missing one is a problem at its key.

All files are remembered by the name in the scenario, so that a run can keep copies (`emulation.run_inputs`)
and be repeated from them.
"""

from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

from dens.config.problems import DocumentError, did_you_mean, likely_meant
from dens.config.toml_positions import Path as KeyPath
from emulation.scenario.places import Places


class NamedFiles:
    """Finds files by their names in a scenario: in its folder, or among the copies of an earlier run."""

    def __init__(self, folder: Path, copies: Mapping[str, Path] | None = None) -> None:
        self.found: dict[str, Path] = {}
        self._folder = folder
        self._copies = copies

    def path(self, name: str, key: KeyPath, places: Places, obtain: str = "") -> Path:
        """Return the path of the file named at this key, or raise `DocumentError`. `obtain` explains how to
        get a file that cannot be shipped.
        """
        path = self._folder / name if self._copies is None else self._copies.get(name)
        if path is not None and path.is_file():
            self.found[name] = path
            return path
        if self._copies is not None:
            message = f'the copy of "{name}" in the run folder is gone; run its scenario again'
            raise DocumentError([places.problem(key, "D310", message)])
        if obtain:
            raise DocumentError([places.problem(key, "D320", f'"{name}" is missing. {obtain}')])
        near = self._near(name)
        message = f'file "{name}" is missing beside the scenario{did_you_mean(name, near)}'
        raise DocumentError([places.problem(key, "D310", message, meant=likely_meant(name, near))])

    def inside(self, folder: str, pattern: str) -> list[str]:
        """Return the names of the files in a folder beside the scenario that match a pattern."""
        if self._copies is not None:
            return sorted(name for name in self._copies if fnmatch(name, f"{folder}/{pattern}"))
        return sorted(f"{folder}/{path.name}" for path in (self._folder / folder).glob(pattern))

    def shipped(self, name: str, path: Path) -> Path:
        """Return the path of a shipped file, or of its copy."""
        path = path if self._copies is None else self._copies.get(name, path)
        self.found[name] = path
        return path

    def _near(self, name: str) -> list[str]:
        beside = (self._folder / name).parent
        try:
            return sorted(str(path.relative_to(self._folder)) for path in beside.iterdir() if path.is_file())
        except (OSError, ValueError):
            return []
