"""The matchers of a run's languages, made wherever Spark needs them."""

from functools import partial

from plugins.registry import language

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.language import Matcher
from spark_analysis.manifest import Manifest
from spark_analysis.metrics.owed import MakeMatcher


def matchers_of(manifest: Manifest) -> MakeMatcher:
    """Return what makes a matcher for a language id over the run's mission table; it can be pickled."""
    table = load_mission_table([str(name) for name in manifest.scenario.get("vocabularies", ())])
    return partial(_matcher, table)


def _matcher(table: MissionTable, language_id: int) -> Matcher:
    return language(language_id).matcher(table)
