"""Look-up by measured attributes, as most languages need it."""

from dataclasses import dataclass

from knowledge_manager.dictionary.extract import Extract, mask_of
from plugins.language import Requirement


@dataclass(frozen=True, slots=True)
class MeasuresAny:
    """A publisher serves the subscription when one of its sources measures all of any alternative.

    >>> MeasuresAny(()).serves(Extract(counter=1, lifetime_q=0, feature_bytes=1, sources=()))
    False
    """

    alternatives: tuple[Requirement, ...]

    def serves(self, extract: Extract) -> bool:
        return any(
            source.event == wanted.event and source.fills(mask_of(wanted.attributes))
            for wanted in self.alternatives
            for source in extract.sources
        )
