"""What people do with a language, behind its guard."""

from collections.abc import Callable
from typing import Any, Final

from dens.config.problems import DocumentError, Problem
from dens.config.refusal import Refusal
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.guard.guard import MOST_BYTES, Answer, Guard
from plugins.language import Match
from watchdog.vector import VectorError


class GuardedPublications:
    """A reader of documents."""

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def read(self, source: bytes, file: str, table: MissionTable) -> Any:
        """Return the notification that a document is."""
        found = self._guard.call(
            "publications.read()", lambda: self._inner.read(source, file, table), lets=(DocumentError,)
        )
        vector = getattr(found, "vector", None)
        is_sound = isinstance(vector, bytes) and len(vector) <= MOST_BYTES
        self._guard.demand(is_sound, "publications.read()", "no publication")
        return found


class GuardedAuthoring:
    """What a person does with a language; refusals of documents, bytes and names pass."""

    _REFUSALS: Final = (DocumentError, VectorError, UnknownName, Refusal)

    def __init__(self, guard: Guard, inner: Any) -> None:
        self._guard = guard
        self._inner = inner

    def _do(self, verb: str, function: Callable[..., Answer], *given: Any, **named: Any) -> Answer:
        return self._guard.call(verb, function, *given, lets=self._REFUSALS, **named)

    def compile(self, source: bytes, file: str, table: MissionTable, **options: Any) -> Any:
        """Compile a document."""
        found = self._do("compile()", lambda: self._inner.compile(source, file, table, **options))
        body, lifetime_q = getattr(found, "body", None), getattr(found, "lifetime_q", None)
        is_sound = (
            isinstance(body, bytes)
            and len(body) <= MOST_BYTES
            and isinstance(lifetime_q, int)
            and 0 <= lifetime_q <= 255
            and _are_problems(getattr(found, "warnings", None))
        )
        self._guard.demand(is_sound, "compile()", "no Compiled whose body fits a message")
        return found

    def check(self, source: bytes, file: str, table: MissionTable, thesaurus: Any = None) -> list[Problem]:
        """Return all errors and warnings of a document."""
        found = self._do("check()", lambda: self._inner.check(source, file, table, thesaurus))
        self._guard.demand(_are_problems(found), "check()", "no list of problems")
        return list(found)

    def meaning(self, body: bytes) -> bytes:
        """Return what of a body is no time of writing."""
        found: bytes = self._do("meaning()", lambda: self._inner.meaning(body))
        self._guard.demand(isinstance(found, bytes), "meaning()", "no bytes")
        return found

    def describe(self, vector: bytes, table: MissionTable | None, kind: Any = None) -> Any:
        """Put a vector into words."""
        found = self._do("describe()", lambda: self._inner.describe(vector, table, kind))
        self._guard.demand(hasattr(found, "sentences"), "describe()", "no description")
        return found

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Put the degree and the detail of a match into words."""
        found: str = self._do("describe_match()", lambda: self._inner.describe_match(match, table))
        self._guard.demand(isinstance(found, str), "describe_match()", "no text")
        return found

    def happened_s(self, notification: bytes) -> int | None:
        """Return when a notification says that it happened."""
        found: int | None = self._do("happened_s()", lambda: self._inner.happened_s(notification))
        self._guard.demand(found is None or isinstance(found, int), "happened_s()", "no number")
        return found

    @property
    def explain(self) -> Any:
        """Return what explains a match, or None."""
        return self._ability("explain", lambda one: hasattr(one, "lines"))

    @property
    def explain_notification(self) -> Any:
        """Return what explains what somebody told, or None."""
        return self._ability("explain_notification", lambda one: hasattr(one, "lines"))

    @property
    def compile_publication(self) -> Any:
        """Return what compiles documents that tell, or None."""
        return self._ability("compile_publication", lambda one: one is None or hasattr(one, "body"))

    @property
    def detail_value(self) -> Any:
        """Return what tells programs the detail of a match, or None."""
        return self._ability("detail_value", lambda one: isinstance(one, int | str))

    @property
    def picture(self) -> Any:
        """Return what draws a subscription, or None."""
        return self._ability("picture", lambda one: hasattr(one, "svg"))

    @property
    def decompile(self) -> Any:
        """Return what writes a vector as a document, or None."""
        return self._ability("decompile", lambda one: isinstance(one, str))

    @property
    def found_nodes(self) -> Any:
        """Return what says which nodes satisfy a subscription, or None."""
        return self._ability("found_nodes", lambda one: isinstance(one, str))

    @property
    def query(self) -> Any:
        """Return what writes a vector as a query, or None."""
        return self._ability("query", lambda one: isinstance(one, str))

    @property
    def loose_matcher(self) -> Any:
        """Return what makes matchers outside of a mission, or None."""
        return self._ability("loose_matcher", lambda one: hasattr(one, "match"))

    @property
    def match_stream(self) -> Any:
        """Return what searches a whole stream, or None."""
        return self._ability("match_stream", lambda one: hasattr(one, "lines"))

    @property
    def learner(self) -> Any:
        """Return what counts in streams, or None."""
        return self._ability("learner", lambda one: hasattr(one, "count"))

    @property
    def generator(self) -> Any:
        """Return what makes subscriptions by chance, or None."""
        return self._do("generator", lambda: self._inner.generator)

    @property
    def terms(self) -> Any:
        """Return what the language makes of terms, or None."""
        return self._do("terms", lambda: self._inner.terms)

    def _ability(self, name: str, is_sound: Callable[[Any], bool]) -> Callable[..., Any] | None:
        ability = self._do(name, lambda: getattr(self._inner, name, None))
        if ability is None:
            return None

        def asked(*given: Any) -> Any:
            found = self._do(f"{name}()", ability, *given)
            self._guard.demand(is_sound(found), f"{name}()", "something else than the interface says")
            return found

        return asked


def _are_problems(found: object) -> bool:
    return isinstance(found, list | tuple) and all(isinstance(one, Problem) for one in found)
