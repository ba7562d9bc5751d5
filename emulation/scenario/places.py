"""Where in a scenario file something is wrong."""

from knowledge_manager.documents import Problem
from knowledge_manager.toml_documents import key_path
from knowledge_manager.toml_positions import Path, TomlPositions


class Places:
    """Makes problems of one scenario file."""

    def __init__(self, file: str, positions: TomlPositions) -> None:
        self.file = file
        self._positions = positions

    def problem(self, path: Path, code: str, message: str) -> Problem:
        """Return an error at the place of this key."""
        line, column = self._positions.at(path)
        return Problem(self.file, line, column, "error", code, f"{key_path(path)}: {message}")
