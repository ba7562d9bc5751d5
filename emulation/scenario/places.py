"""Where in a scenario file, or in a change to it, something is wrong."""

from dataclasses import replace

from emulation.scenario.changes import Changes
from knowledge_manager.documents import Problem
from knowledge_manager.toml_documents import key_path
from knowledge_manager.toml_positions import Path, TomlPositions


class Places:
    """Makes problems of one scenario file."""

    def __init__(self, file: str, positions: TomlPositions, changes: Changes | None = None) -> None:
        self.file = file
        self._positions = positions
        self._changes = changes or Changes()

    def problem(self, path: Path, code: str, message: str) -> Problem:
        """Return an error at the place of this key."""
        line, column = self._positions.at(path)
        return self.at_origin(
            Problem(self.file, line, column, "error", code, f"{key_path(path)}: {message}"), path
        )

    def at_origin(self, problem: Problem, path: Path) -> Problem:
        """Return the problem as one of the change that put there what stands at this path, if one did."""
        change = self._changes.behind(path)
        return problem if change is None else replace(problem, file=change, line=0, column=0)
