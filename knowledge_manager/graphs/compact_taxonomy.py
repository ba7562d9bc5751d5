"""The compiled form of a taxonomy, which loads without rdflib (`knowledge_manager.compact_sections`).

Classes come first, then things, each sorted; `…_start` arrays hold the start offsets of the parents of a
class, the types of a thing and the labels of both. The hierarchy has no cycle.
"""

from array import array
from itertools import pairwise
from typing import Final

from knowledge_manager.compact_sections import (
    WORD,
    CompactError,
    check_starts,
    check_texts,
    inconsistent_section,
    pack_texts,
    read_sections,
    start_offsets,
    write_sections,
)
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel, find_cycle

MAGIC: Final = b"DENSTAX1"
_TEXTS: Final = frozenset({"name", "nodes", "words"})
_SECTIONS: Final = (
    "name",
    "node_start",
    "nodes",
    "classes",
    "link_start",
    "links",
    "label_start",
    "label_words",
    "word_start",
    "words",
)


def compile_taxonomy(taxonomy: Taxonomy) -> bytes:
    """Return the compiled form. Equal taxonomies give equal bytes."""
    classes = sorted(taxonomy.parents)
    things = sorted(taxonomy.types)
    number = {one: at for at, one in enumerate(classes)}
    links = [sorted(number[one] for one in taxonomy.parents[of]) for of in classes]
    links += [sorted(number[one] for one in taxonomy.types[of]) for of in things]
    labels = [taxonomy.labels.get(one, ()) for one in (*classes, *things)]
    texts = [word for some in labels for label in some for word in (label.text, label.language)]
    words = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    node_start, nodes = pack_texts([*classes, *things])
    word_start, blob = pack_texts(words)
    flat = [label for some in labels for label in some]
    return write_sections(
        MAGIC,
        {
            "name": taxonomy.name.encode(),
            "node_start": node_start,
            "nodes": nodes,
            "classes": array(WORD, [len(classes)]),
            "link_start": array(WORD, start_offsets(map(len, links))),
            "links": array(WORD, [one for some in links for one in some]),
            "label_start": array(WORD, start_offsets(map(len, labels))),
            "label_words": array(
                WORD, [part for one in flat for part in (words[one.text], words[one.language])]
            ),
            "word_start": word_start,
            "words": blob,
        },
    )


def read_compact_taxonomy(content: bytes) -> Taxonomy:
    """Return the taxonomy, or raise `CompactError`."""
    sections = read_sections(content, MAGIC, _SECTIONS, _TEXTS, "taxonomy")
    blobs = {name: part for name, part in sections.items() if isinstance(part, bytes)}
    columns = {name: part for name, part in sections.items() if isinstance(part, array)}
    nodes = _texts(blobs["nodes"], columns["node_start"])
    words = _texts(blobs["words"], columns["word_start"])
    if len(columns["classes"]) != 1 or columns["classes"][0] > len(nodes):
        raise inconsistent_section("classes")
    classes = columns["classes"][0]
    check_starts(columns["link_start"], len(columns["links"]), len(nodes) + 1)
    check_starts(columns["label_start"], len(columns["label_words"]) // 2, len(nodes) + 1)
    if len(columns["label_words"]) % 2 or max(columns["label_words"], default=-1) >= len(words):
        raise inconsistent_section("label_words")
    if max(columns["links"], default=-1) >= classes:
        raise inconsistent_section("links")
    links = [tuple(nodes[one] for one in columns["links"][a:b]) for a, b in pairwise(columns["link_start"])]
    pairs = [columns["label_words"][2 * a : 2 * b] for a, b in pairwise(columns["label_start"])]
    found = Taxonomy(
        _text(blobs["name"]),
        dict(zip(nodes[:classes], links[:classes], strict=True)),
        dict(zip(nodes[classes:], links[classes:], strict=True)),
        {
            node: tuple(TaxonomyLabel(words[a], words[b]) for a, b in zip(some[::2], some[1::2], strict=True))
            for node, some in zip(nodes, pairs, strict=True)
            if some
        },
    )
    if find_cycle(found.parents):
        raise inconsistent_section("links")
    return found


def _texts(blob: bytes, start: "array[int]") -> list[str]:
    check_texts(blob, start)
    try:
        return [blob[a:b].decode() for a, b in pairwise(start)]
    except UnicodeDecodeError:
        raise CompactError(0, "a text is truncated within a character") from None


def _text(blob: bytes) -> str:
    try:
        return blob.decode()
    except UnicodeDecodeError:
        raise CompactError(0, "the name is not UTF-8") from None
