"""Problems of a scenario file, at the position of a key or of the change (`--set`) that put it there."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from dens.config.problems import DocumentError, Problem, Severity
from dens.config.toml_documents import key_path
from dens.config.toml_positions import Path, TomlPositions
from emulation.scenario.changes import Changes


@contextmanager
def collect(problems: list[Problem]) -> Iterator[None]:
    """Add the problems of a `DocumentError` in the block to the list, and continue after the block."""
    try:
        yield
    except DocumentError as error:
        problems.extend(error.problems)


class Places:
    """Makes the problems of one scenario file. `again` marks the repetition of an earlier run."""

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
        """Return a problem at the position of this key; for `meant` see `TomlPositions.problem`."""
        text = f"{key_path(path)}: {message}"
        problem = self._positions.problem(self.file, path, code, text, severity, meant=meant, is_key=is_key)
        return self.at_origin(problem, path)

    def warning(self, path: Path, code: str, message: str) -> Problem:
        """Return a warning at the position of this key; the scenario can still be run."""
        return self.problem(path, code, message, "warning")

    def is_cut_short(self, path: Path) -> bool:
        """Return whether the duration was changed from outside the file that has the key at this path."""
        if self._again:
            return True
        return self._changes.behind(("duration_s",)) is not None and self._changes.behind(path) is None

    def at_origin(self, problem: Problem, path: Path) -> Problem:
        """Return the problem as one of the change that set the value at this path, if there is one."""
        change = self._changes.behind(path)
        return (
            problem
            if change is None
            else replace(problem, file=change, line=0, column=0, span=None, fixes=())
        )
