"""The matchers of a run's languages, made wherever Spark needs them."""

from functools import partial

from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary_reader import read_vocabulary
from plugins.language import Matcher
from plugins.registry import language
from spark_analysis.manifest import Manifest
from spark_analysis.metrics.owed import MakeMatcher


def matchers_of(manifest: Manifest) -> MakeMatcher:
    """Return what makes a matcher for a language id over the run's mission table; it can be pickled."""
    return partial(matcher, mission_table(manifest))


def mission_table(manifest: Manifest) -> MissionTable:
    """Build the table from the texts in the manifest; a trace older than those names files instead."""
    if manifest.vocabularies:
        return MissionTable(
            tuple(read_vocabulary(text, name) for name, text in manifest.vocabularies.items())
        )
    return load_mission_table([str(name) for name in manifest.scenario.get("vocabularies", ())])


def matcher(table: MissionTable, language_id: int) -> Matcher:
    """Return an empty matcher of the language with this id."""
    return language(language_id).matcher(table)
