"""Checks files of any kind together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dens.app.files import gather
from dens.app.subscriptions.checker import CHECKED_SUFFIXES, Checker

if TYPE_CHECKING:
    from dens.config.problems import Problem
    from knowledge_manager.graphs.rdf_kind import RdfKind


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The files that were checked and all their problems, in order."""

    files: tuple[Path, ...]
    problems: "tuple[Problem, ...]"

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the files that have errors."""
        return tuple(sorted({problem.file for problem in self.problems if problem.severity == "error"}))

    @property
    def ok(self) -> bool:
        """Return whether no file has an error. Warnings do not count."""
        return not self.failed


def check(
    paths: str | Path | Iterable[str | Path],
    vocabularies: Sequence[str] | None = None,
    *,
    thesauri: Sequence[str] | None = None,
    language: str | None = None,
    rdf_kind: "RdfKind | None" = None,
    board: str | None = None,
) -> CheckResult:
    """Check subscriptions, scenarios, vocabularies, node files, thesauri and vectors, and folders of them.

    The files are checked as they are used together (see `Checker`). `language` is the language of vectors,
    `rdf_kind` the kind of RDF files, `board` a board whose limits apply too.
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    sources = gather(map(Path, given), CHECKED_SUFFIXES)
    checker = Checker(sources, vocabularies, thesauri, language, rdf_kind)
    problems = checker.problems()
    if board is not None:
        from dens.app.subscriptions.board_check import BoardChecker, limits_of

        problems += BoardChecker(limits_of(board), checker).problems(sources)
    return CheckResult(tuple(sources), tuple(problems))
