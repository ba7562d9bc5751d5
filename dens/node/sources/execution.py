"""The execution environment of a host: the local data dictionary decides which sources serve a subscription.

Emulated publishers and `dens node publish` use it; a board reads its own extract instead
(watchdog/offered_sources.py).
"""

from collections.abc import Callable, Iterable, Mapping

from knowledge_manager.dictionary.local import LocalDataDictionary, LocalSource
from plugins.language import LookUp
from watchdog.execution import ExecutionEnvironment

Pair = tuple[str, str]
"""Protocol and content type, which select the class of a source."""


class LocalSources:
    """The sources of a local data dictionary by number, in its order, as long as it does not change."""

    def __init__(self, dictionary: LocalDataDictionary, lookups: Mapping[int, LookUp]) -> None:
        """Number the sources. `lookups` return, by language, what a subscription needs from a publisher."""
        self.dictionary = dictionary
        self._lookups = lookups
        self._numbers = {source.offered: number for number, source in enumerate(dictionary.sources)}
        self.pairs: list[Pair] = [(source.protocol, source.content_type) for source in dictionary.sources]

    def number(self, source: LocalSource) -> int:
        """Return a source's number."""
        return self._numbers[source.offered]

    def serving(self, language: int, body: bytes) -> int:
        """Return a mask of the sources that serve a subscription, -1 where it is not served; a bad body
        raises `VectorError`.
        """
        served = self.dictionary.serving(self._lookups[language].question(body))
        return -1 if served is None else self._mask(served)

    def _mask(self, sources: Iterable[LocalSource]) -> int:
        return sum(1 << self.number(source) for source in sources)


def failure_words(pairs: list[Pair], say: Callable[[str], None]) -> Callable[[int, str, Exception], None]:
    """Return a function that reports the failure of a source."""

    def report(number: int, verb: str, error: Exception) -> None:
        protocol, content_type = pairs[number]
        done = {"start": "could not be started", "read": "could not be read", "stop": "did not stop well"}
        reason = str(error) or type(error).__name__
        say(f"source {number} ({protocol}, {content_type or 'no content type'}) {done[verb]}: {reason}")

    return report


def environment_for(
    sources: LocalSources,
    registry: Mapping[Pair, Callable[[int], object]],
    say: Callable[[str], None] | None = None,
) -> ExecutionEnvironment:
    """Return an environment in which nothing runs yet."""
    report = None if say is None else failure_words(sources.pairs, say)
    return ExecutionEnvironment(sources, dict(registry), report)
