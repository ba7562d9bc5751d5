"""Where in a scenario file, or in a change to it, something is wrong."""

from collections.abc import Iterable
from dataclasses import replace

from dens.config.problems import Problem, Severity
from dens.config.toml_documents import key_path
from dens.config.toml_positions import Path, TomlPositions
from emulation.scenario.changes import Changes


class Places:
    """Makes problems of one scenario file. `again` says that a run of it was made before."""

    def __init__(
        self, file: str, positions: TomlPositions, changes: Changes | None = None, *, again: bool = False
    ) -> None:
        self.file = file
        self._positions = positions
        self._changes = changes or Changes()
        self._again = again

    def problem(
        self,
        path: Path,
        code: str,
        message: str,
        severity: Severity = "error",
        *,
        meant: Iterable[str] = (),
        is_key: bool = False,
    ) -> Problem:
        """Return an error at the place of this key; for `meant` see `TomlPositions.problem`."""
        told = f"{key_path(path)}: {message}"
        problem = self._positions.problem(self.file, path, code, told, severity, meant=meant, is_key=is_key)
        return self.at_origin(problem, path)

    def warning(self, path: Path, code: str, message: str) -> Problem:
        """Return what should be known about this key and keeps nobody from running the scenario."""
        return self.problem(path, code, message, "warning")

    def is_cut_short(self, path: Path) -> bool:
        """Return whether somebody else than the writer of the key at this path said when the run ends."""
        if self._again:
            return True
        return self._changes.behind(("duration_s",)) is not None and self._changes.behind(path) is None

    def at_origin(self, problem: Problem, path: Path) -> Problem:
        """Return the problem as one of the change that put there what stands at this path, if one did."""
        change = self._changes.behind(path)
        return (
            problem
            if change is None
            else replace(problem, file=change, line=0, column=0, span=None, fixes=())
        )
