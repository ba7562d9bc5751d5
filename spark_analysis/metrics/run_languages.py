"""The languages of a run, over its mission table: what judges its notifications and its readings."""

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
    """Makes matchers and ground truths wherever Spark needs them; it can be pickled."""

    table: MissionTable
    condition: str | None = None
    """Under which notifications served subscriptions; None is what languages have by themselves."""

    def matchers(self, number: int) -> dict[int, Matcher]:
        """Return empty matchers of the language with this number, by the language that each judges."""
        return {told: make(self.table) for told, make in self._language(number).matchers.items()}

    def ground_truth(self, number: int) -> GroundTruth | None:
        """Return what judges readings for this language; None where readings are nothing to it."""
        make = self._language(number).ground_truth
        return None if make is None else make(self.table)

    def composes(self, number: int) -> bool:
        """Say whether notifications of this language are made of others: what of it is owed to whom follows
        from these, and not from its matcher alone.
        """
        return self._language(number).composer is not None

    @property
    def composed(self) -> tuple[int, ...]:
        """Return the numbers of such languages."""
        return tuple(number for number, one in languages().items() if one.composer is not None)

    @property
    def plain(self) -> tuple[int, ...]:
        """Return the numbers of languages whose notifications tell of neither a reading nor a document."""
        return tuple(
            number
            for number, one in languages().items()
            if one.ground_truth is None and one.publications is None and one.composer is None
        )

    def composer(self, number: int) -> Composer:
        """Return an empty composer of a language that has one."""
        make = self._language(number).composer
        assert make is not None  # asked for languages that compose alone
        return make(self.table)

    def results(self, number: int) -> ResultReader:
        """Return what reads what notifications of such a language say."""
        reader = self._language(number).results
        assert reader is not None
        return reader

    def parts(self, number: int) -> TakeApart:
        """Return what takes subscriptions of a language apart."""
        return self._language(number).parts(self.table)

    def source_filter(self, number: int) -> SourceFilter:
        """Return an empty filter as a source has it."""
        return self._language(number).source_filter(self.table)

    def _language(self, number: int) -> SubscriptionLanguage:
        return MatchingChoice(condition=self.condition).applied(languages())[number]
