"""The matchers of a run's languages, made wherever Spark needs them."""

from functools import partial

from knowledge_manager.documents import listed
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary import shipped_vocabularies
from knowledge_manager.vocabulary_reader import read_vocabulary
from plugins.language import Matcher
from plugins.registry import language
from spark_analysis.errors import TraceError
from spark_analysis.manifest import Manifest
from spark_analysis.metrics.owed import MakeMatcher


def matchers_of(manifest: Manifest) -> MakeMatcher:
    """Return what makes a matcher for a language id over the run's mission table; it can be pickled."""
    return partial(matcher, mission_table(manifest))


def mission_table(manifest: Manifest) -> MissionTable:
    """Build the table from the texts in the manifest; a trace older than those names vocabularies that are
    shipped. A file elsewhere is none of a run's."""
    if manifest.vocabularies:
        return MissionTable(
            tuple(read_vocabulary(text, name) for name, text in manifest.vocabularies.items())
        )
    names = [str(name) for name in manifest.scenario.get("vocabularies", ())]
    strange = [name for name in names if name not in shipped_vocabularies()]
    if strange:
        raise TraceError(
            f"the run carries no text of its vocabulary {listed(strange)}; run its scenario again"
        )
    return load_mission_table(names)


def matcher(table: MissionTable, language_id: int) -> Matcher:
    """Return an empty matcher of the language with this id."""
    return language(language_id).matcher(table)
