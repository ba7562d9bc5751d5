"""A vector as a SPARQL query, for independent evaluation."""

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss.authoring.words import usual_names
from plugins.gtopss.sparql_text import sparql_of
from plugins.gtopss.vectors import decode_pattern
from watchdog.header import body_of


def query_of(vector: bytes, table: MissionTable) -> str:
    """Return the query. Bytes that are not a pattern raise `VectorError`."""
    pattern = decode_pattern(body_of(vector), table.dictionary)
    return sparql_of(pattern, tuple(usual_names(pattern)))
