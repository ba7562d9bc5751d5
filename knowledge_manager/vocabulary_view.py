"""A vocabulary with the words that thesauri have for its entries: the data of `dens vocabulary show`."""

from dataclasses import dataclass
from typing import Any

from knowledge_manager.dictionary.local import attribute_document
from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.lookup.lookup import words_for
from knowledge_manager.thesaurus.concept import Target
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import Vocabulary
from knowledge_manager.vocabulary.graph_class import GraphClass


@dataclass(frozen=True, slots=True)
class VocabularyView:
    """A vocabulary and, with a thesaurus, other words for its events and attributes."""

    vocabulary: Vocabulary
    thesaurus: Thesaurus | None = None
    language: str | None = None

    def as_document(self) -> dict[str, Any]:
        vocabulary = self.vocabulary
        return {
            "name": vocabulary.name,
            "version": vocabulary.version,
            "feature_bytes": vocabulary.feature_bytes,
            "about": vocabulary.about,
            "events": [
                {
                    "name": event.name,
                    "index": event.index,
                    "feature": 1 << event.index,
                    "about": event.about,
                    "words": self._words(Target("event", event.name)),
                    "attributes": [
                        attribute_document(attribute)
                        | {
                            "feature": 1 << attribute.index,
                            "words": self._words(Target("attribute", f"{event.name}.{attribute.name}")),
                        }
                        for attribute in event.attributes
                    ],
                }
                for event in vocabulary.events
            ],
            "graphs": [self._graph(kind) for kind in vocabulary.graphs],
        }

    def _graph(self, kind: GraphClass) -> dict[str, Any]:
        dictionary = Dictionary.of([(kind.namespaces, kind.terms)])
        return {
            "name": kind.name,
            "index": kind.index,
            "feature": 1 << kind.index,
            "about": kind.about,
            "most_bytes": kind.most_bytes,
            "namespaces": dict(kind.namespaces),
            "terms": [dictionary.shortened(term.text) for term in dictionary.terms],
            "taxonomy": {
                "name": kind.taxonomy_name,
                "digest": kind.taxonomy.digest,
                "classes": len(kind.taxonomy.parents),
                "things": len(kind.taxonomy.types),
            },
            "facets": [
                {
                    "name": facet.name,
                    "index": facet.index,
                    "feature": 1 << facet.index,
                    "about": facet.about,
                    "is_open": facet.is_open,
                    "properties": [dictionary.shortened(one) for one in facet.properties],
                }
                for facet in kind.facets
            ],
        }

    def _words(self, target: Target) -> list[str]:
        return list(words_for(target, self.thesaurus, self.language))


def show_vocabulary(
    vocabulary: Vocabulary, thesaurus: Thesaurus | None = None, language: str | None = None
) -> VocabularyView:
    return VocabularyView(vocabulary, thesaurus, language)
