"""The languages of a run, from its manifest."""

from dens.config.problems import listed
from dens.trace.manifest import Manifest
from knowledge_manager.embedded_taxonomies import taxonomies_from
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary.reader import read_vocabulary
from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies
from plugins.matching_choice import choice_faults
from plugins.registry import languages
from spark_analysis.errors import TraceError
from spark_analysis.metrics.run_languages import RunLanguages


def languages_of(manifest: Manifest) -> RunLanguages:
    """Return the languages of a run with its mission table and feature condition."""
    for fault in choice_faults(None, manifest.condition, languages().values()):
        raise TraceError(f"the run used another {fault.message}; install the package that provides it")
    return RunLanguages(mission_table(manifest), manifest.condition)


def mission_table(manifest: Manifest) -> MissionTable:
    """Build the table from the texts in the manifest. Older traces only name shipped vocabularies; files are
    not part of a run.
    """
    if manifest.vocabularies:
        find = taxonomies_from(manifest.taxonomies)
        texts = manifest.vocabularies.items()
        return MissionTable(tuple(read_vocabulary(text, name, taxonomy=find) for name, text in texts))
    names = [str(name) for name in manifest.scenario.get("vocabularies", ())]
    strange = [name for name in names if name not in shipped_vocabularies()]
    if strange:
        raise TraceError(f"the run does not contain its vocabulary {listed(strange)}; run its scenario again")
    return load_mission_table(names)
