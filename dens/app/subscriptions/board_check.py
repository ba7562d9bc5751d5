"""Checks files against the limits of a board (`dens check --board`)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from dens.app.subscriptions.checker import VECTOR_SUFFIXES, Checker, kind_of_toml
from dens.app.subscriptions.languages import chosen_language
from dens.app.subscriptions.subscription import compiled_document, compiled_vector
from dens.boards.board import Board
from dens.boards.board_language import AGGREGATOR_AT, BOARD_LANGUAGE, board_bodies, foreign_language
from dens.boards.registry import BOARDS
from dens.config.problems import DocumentError, Problem, did_you_mean
from dens.config.reading import read_document, read_text
from dens.config.refusal import Refusal
from dens.config.toml_positions import locate
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.vocabulary import load_vocabulary
from plugins.authoring import CompileOptions
from plugins.language import SubscriptionLanguage
from watchdog.header import BODY_AT, NO_HEADER, body_of
from watchdog.pool import NEVER, Pool
from watchdog.sharing import enter
from watchdog.vector import VectorError, check_subscription


def limits_of(board: str) -> Board:
    """Return the limits of a board."""
    if board not in BOARDS:
        raise Refusal(f"unknown board {board} ({', '.join(sorted(BOARDS))}){did_you_mean(board, BOARDS)}")
    return BOARDS[board]


class BoardChecker:
    """Finds what a board does not accept in files that are otherwise valid."""

    def __init__(self, limits: Board, checker: Checker) -> None:
        self._limits = limits
        self._checker = checker
        self._pool: Pool = limits.pool()
        self._held = 0
        self._is_full = False

    def problems(self, sources: Sequence[Path]) -> Iterator[Problem]:
        """Yield what the board does not accept. Files with errors of their own are skipped."""
        for path in sources:
            try:
                yield from self._of_file(path)
            except (DocumentError, VectorError, ValueError):
                continue  # reported by the check of the file itself

    def _of_file(self, path: Path) -> Iterator[Problem]:
        if path.suffix == ".toml" and kind_of_toml(path) == "vocabulary":
            reason = self._limits.width_fault(load_vocabulary(path).feature_bytes)
            if reason is not None:
                line, column = locate(read_text(path)).at(("feature_bytes",))
                yield Problem(str(path), line, column, "error", "D403", reason)
        elif path.suffix == ".xml":
            yield from self._of_subscription(path)
        elif path.suffix in VECTOR_SUFFIXES and path.suffix != ".nv":
            yield from self._of_vectors(path)

    def _of_subscription(self, path: Path) -> Iterator[Problem]:
        table = self._checker.table_for(path)
        if table is None:
            return
        words = self._checker.words_for(path)
        language, compiled = compiled_document(path, table, CompileOptions(thesaurus=words))
        if language.language_id != BOARD_LANGUAGE.language_id:
            for message in self._judged_in_parts(language, compiled.body, table):
                yield Problem(str(path), 1, 1, "error", "D403", message)
            return

        def place(offset: int) -> tuple[int, int]:
            span = compiled.spans[offset - BODY_AT] if offset >= BODY_AT else None
            return (1, 1) if span is None else (span.line, span.column)

        for offset, message in self._judged(compiled_vector(compiled), table.feature_bytes):
            yield Problem(str(path), *place(offset), "error", "D403", message)

    def _of_vectors(self, path: Path) -> Iterator[Problem]:
        language = chosen_language(self._checker.language)
        content, table = read_document(path), self._checker.table_for(path)
        width = 1 if table is None else table.feature_bytes
        if language.language_id != BOARD_LANGUAGE.language_id:
            if table is not None:
                yield from self._of_foreign_vectors(path, content, language, table)
            return
        if path.suffix != ".hex":
            for _, message in self._judged(content, width):
                yield Problem(str(path), 0, 0, "error", "D403", message)
            return
        for number, line in enumerate(content.decode().splitlines(), start=1):
            if not line.strip():
                continue
            indent = len(line) - len(line.lstrip())
            try:
                vector = bytes.fromhex(line.strip())
                check_subscription(vector, width)
            except ValueError:
                continue  # not a subscription; reported by the check of the file itself
            for offset, message in self._judged(vector, width):
                yield Problem(str(path), number, indent + 2 * offset + 1, "error", "D403", message)

    def _of_foreign_vectors(
        self, path: Path, content: bytes, language: SubscriptionLanguage, table: MissionTable
    ) -> Iterator[Problem]:
        """Yield what the board does not accept of vectors in a language that it does not know."""
        if path.suffix != ".hex":
            for message in self._judged_in_parts(language, body_of(content), table):
                yield Problem(str(path), 0, 0, "error", "D403", message)
            return
        for number, line in enumerate(content.decode().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                messages = list(self._judged_in_parts(language, body_of(bytes.fromhex(line.strip())), table))
            except (ValueError, VectorError):
                continue  # not a subscription; reported by the check of the file itself
            for message in messages:
                yield Problem(str(path), number, 1, "error", "D403", message)

    def _judged_in_parts(
        self, language: SubscriptionLanguage, body: bytes, table: MissionTable
    ) -> Iterator[str]:
        """Yield the problems of the parts that replace a subscription on a board; without parts, that the
        board does not know the language.
        """
        bodies = board_bodies(language, body, table)
        foreign = foreign_language(self._limits.spoken, language.language_id)
        if not bodies and foreign is not None:
            yield foreign
        for number, part in enumerate(bodies, start=1):
            for _, message in self._judged(NO_HEADER + part, table.feature_bytes):
                yield f"part {number} of {len(bodies)}: {message}"

    def _judged(self, vector: bytes, feature_bytes: int) -> Iterator[tuple[int, str]]:
        """Yield the problems of a subscription with the offset of the byte. Accepted subscriptions fill the
        board; the first one that does not fit is reported too.
        """
        faults = list(self._limits.faults(vector, feature_bytes))
        yield from ((fault.offset, fault.message) for fault in faults)
        if faults or self._is_full:
            return
        number = self._held
        self._is_full = number >= self._limits.capacity or not enter(
            self._pool, number >> 8, number & 255, 0, NEVER, vector, AGGREGATOR_AT, len(vector)
        )
        if self._is_full:
            yield (
                AGGREGATOR_AT,
                f"{self._limits.spoken} has room for only {number} of these subscriptions",
            )
        self._held += 1
