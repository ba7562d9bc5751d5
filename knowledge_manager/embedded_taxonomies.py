"""Taxonomies embedded in a run's manifest, so that an old run is analysed with the taxonomy it was recorded
with.
"""

import base64
import zlib
from collections.abc import Mapping

from dens.config.problems import DocumentError
from knowledge_manager.compact_sections import CompactError
from knowledge_manager.graphs.compact_taxonomy import compile_taxonomy, read_compact_taxonomy
from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.taxonomy_files import LARGEST_TAXONOMY, FindTaxonomy, shipped_taxonomy
from knowledge_manager.mission_table import MissionTable


def embed_taxonomies(table: MissionTable) -> dict[str, str]:
    """Return the compiled taxonomies of a table as base64 text, by the names that its vocabularies use."""
    return {
        graph.taxonomy_name: base64.b64encode(zlib.compress(compile_taxonomy(graph.taxonomy), 9)).decode()
        for graph in table.graphs
        if graph.taxonomy_name
    }


def taxonomies_from(documents: Mapping[str, str]) -> FindTaxonomy:
    """Return a finder for embedded taxonomies that falls back to shipped ones. Invalid text raises
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
            raise DocumentError.of_file(name, "D522", f"not a compiled taxonomy: {error}") from None

    return find
