"""Taxonomies that a run carries along: whoever reads it later judges by what was, not by what ships now."""

import base64
import zlib
from collections.abc import Mapping

from dens.config.problems import DocumentError
from knowledge_manager.compact_sections import CompactError
from knowledge_manager.graphs.compact_taxonomy import compile_taxonomy, read_compact_taxonomy
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.taxonomy_files import LARGEST_TAXONOMY, FindTaxonomy, shipped_taxonomy
from knowledge_manager.mission_table import MissionTable


def carried(table: MissionTable) -> dict[str, str]:
    """Return the taxonomies of a table by the names that its vocabularies give them, compiled, as text."""
    return {
        graph.taxonomy_name: base64.b64encode(zlib.compress(compile_taxonomy(graph.taxonomy), 9)).decode()
        for graph in table.graphs
        if graph.taxonomy_name
    }


def taxonomies_from(documents: Mapping[str, str]) -> FindTaxonomy:
    """Return what finds taxonomies that are carried along, and those that ship. Text that is none raises
    `DocumentError`.
    """

    def find(name: str) -> Taxonomy:
        if name not in documents:
            return shipped_taxonomy(name)
        try:
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(base64.b64decode(documents[name]), LARGEST_TAXONOMY)
            return read_compact_taxonomy(content)
        except (ValueError, zlib.error, CompactError) as error:
            raise DocumentError.of_file(name, "D522", f"this is no compiled taxonomy: {error}") from None

    return find
