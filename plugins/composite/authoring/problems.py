"""Problems of a document, collected while reading continues."""

from collections.abc import Iterable

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from plugins.authoring.xml.document import SubscriptionDocument
from plugins.authoring.xml.spans import Span


class Complaints:
    def __init__(self, document: SubscriptionDocument) -> None:
        self.document = document
        self.problems: list[Problem] = list(document.problems)

    def complain(
        self, span: Span, code: str, message: str, word: str = "", meant: Iterable[str] = ()
    ) -> None:
        """Add an error. `meant` are suggested replacements of the word."""
        fixes = self.document.replaced(span, word, meant)
        self.problems.append(self.document.problem(span, code, message, fixes))

    def unknown(self, span: Span, code: str, what: str, word: str, names: Iterable[str]) -> None:
        """Add an error about an unknown word, with a suggestion."""
        known = list(names)
        message = f'{what} "{word}" is unknown ({listed(known)}){did_you_mean(word, known)}'
        self.complain(span, code, message, word, likely_meant(word, known))

    def warning(self, span: Span, code: str, message: str) -> None:
        self.problems.append(self.document.warning(span, code, message))

    @property
    def has_errors(self) -> bool:
        """Return whether there is an error."""
        return any(problem.severity == "error" for problem in self.problems)

    def refuse(self, *, strict: bool = False) -> None:
        """Raise the problems if there is an error, or with `strict` a warning."""
        doubtful = strict and any(problem.severity == "warning" for problem in self.problems)
        if self.has_errors or doubtful:
            raise DocumentError(self.problems)
