"""The languages of a run with its mission table."""

from dataclasses import dataclass

from knowledge_manager.mission_table import MissionTable
from plugins.ground_truth import GroundTruth
from plugins.language import (
    Composer,
    Matcher,
    ResultReader,
    SourceFilter,
    SubscriptionLanguage,
    TakeApart,
)
from plugins.matching_choice import MatchingChoice
from plugins.registry import languages


@dataclass(frozen=True, slots=True)
class RunLanguages:
    """Creates matchers and ground truths in Spark workers; picklable."""

    table: MissionTable
    condition: str | None = None
    """Feature condition of the run; None is the default of the languages."""

    def matchers(self, number: int) -> dict[int, Matcher]:
        """Return empty matchers of a language, by the language of the notifications they match."""
        return {language: make(self.table) for language, make in self._language(number).matchers.items()}

    def ground_truth(self, number: int) -> GroundTruth | None:
        """Return what matches readings for this language; None if readings do not apply to it."""
        make = self._language(number).ground_truth
        return None if make is None else make(self.table)

    def composes(self, number: int) -> bool:
        """Return whether notifications of this language are composed from others. Their expected deliveries
        do not follow from the matcher alone.
        """
        return self._language(number).composer is not None

    @property
    def composed(self) -> tuple[int, ...]:
        """Return the numbers of composing languages."""
        return tuple(number for number, one in languages().items() if one.composer is not None)

    @property
    def plain(self) -> tuple[int, ...]:
        """Return the numbers of languages whose notifications contain neither a reading nor a document."""
        return tuple(
            number
            for number, one in languages().items()
            if one.ground_truth is None and one.publications is None and one.composer is None
        )

    def composer(self, number: int) -> Composer:
        """Return an empty composer of a composing language."""
        make = self._language(number).composer
        assert make is not None  # called for composing languages only
        return make(self.table)

    def results(self, number: int) -> ResultReader:
        """Return the reader of the results in a notification."""
        reader = self._language(number).results
        assert reader is not None
        return reader

    def parts(self, number: int) -> TakeApart:
        """Return the function that splits subscriptions into parts."""
        return self._language(number).parts(self.table)

    def source_filter(self, number: int) -> SourceFilter:
        """Return an empty source filter."""
        return self._language(number).source_filter(self.table)

    def _language(self, number: int) -> SubscriptionLanguage:
        return MatchingChoice(condition=self.condition).applied(languages())[number]
