"""The term tree of a content management system as a taxonomy: what its authors file things under.

WordPress tells it as `/wp-json/wp/v2/categories` (a list, or several pages of it joined), Drupal as
`/jsonapi/taxonomy_term/VOCABULARY` (JSON:API). A class a term, its name as label, its parents above it. A
class is named by the term's own address, or by Drupal's UUID, which outlives every renaming.
"""

import html
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from dens.config.json_documents import parse_json
from dens.config.problems import DocumentError, listed
from dens.config.reading import refuse_large
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel
from knowledge_manager.graphs.taxonomy_reader import sound_taxonomy
from knowledge_manager.graphs.terms import TermError, iri, literal

LARGEST_EXPORT: Final = 16 * 1024 * 1024


class _Unfit(ValueError):
    """The export is not what the system writes."""


class _Term(NamedTuple):
    iri: str
    label: TaxonomyLabel
    parents: tuple[str, ...]


def cms_taxonomy(content: bytes, file: str, system: str, name: str) -> Taxonomy:
    """Return the term tree in an export of a system (`SYSTEMS`); what is wrong raises `DocumentError`.

    Terms whose parent is not in the export stand at the top, as the system itself shows them to those who
    may not see the parent.
    """
    refuse_large(content, file, LARGEST_EXPORT)
    try:
        found = list(SYSTEMS[system](parse_json(content, file, "D529")))
    except (_Unfit, TermError) as error:
        raise DocumentError.of_file(file, "D529", f"is no export of {system}: {error}") from None
    if not found:
        raise DocumentError.of_file(file, "D529", f"is an export of {system} without any term")
    parents = {term.iri: tuple(sorted(term.parents)) for term in found}
    return sound_taxonomy(Taxonomy(name, parents, {}, {term.iri: (term.label,) for term in found}), file)


def _wordpress(document: Any) -> Iterator[_Term]:
    entries = _list(document, "a list of categories")
    classes = {_field(entry, "id", int): iri(_field(entry, "link", str)).text for entry in entries}
    for entry in entries:
        label = TaxonomyLabel(html.unescape(_field(entry, "name", str)))
        above = classes.get(_field(entry, "parent", int))
        yield _Term(classes[entry["id"]], label, () if above is None else (above,))


def _drupal(document: Any) -> Iterator[_Term]:
    entries = _list(document.get("data") if isinstance(document, dict) else None, 'a list "data"')
    classes = {_field(entry, "id", str): iri(f"urn:uuid:{entry['id']}").text for entry in entries}
    for entry in entries:
        attributes = _field(entry, "attributes", dict)
        language = attributes.get("langcode")
        is_spoken = isinstance(language, str) and language not in ("", "und", "zxx")
        word = literal(_field(attributes, "name", str), language=str(language) if is_spoken else "")
        above = tuple(classes[one] for one in _drupal_parents(entry) if one in classes)
        yield _Term(classes[entry["id"]], TaxonomyLabel(word.text, word.language), above)


def _drupal_parents(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the UUIDs of a term's parents; the top of a vocabulary is called `virtual` there."""
    parents = {"parent": {"data": []}} | _field({"relationships": {}} | entry, "relationships", dict)
    for parent in _field(parents["parent"], "data", list):
        yield _field(parent, "id", str)


SYSTEMS: Final[Mapping[str, Callable[[Any], Iterator[_Term]]]] = MappingProxyType(
    {"wordpress": _wordpress, "drupal": _drupal}
)
"""Content management systems whose exports are read."""


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Unfit(f"{what} is expected; there is {type(value).__name__}")
    return value


def _field(entry: Any, name: str, kind: type) -> Any:
    """Return a field that an entry must have."""
    if not isinstance(entry, dict):
        raise _Unfit(f"an entry is {type(entry).__name__}, not an object")
    found = entry.get(name)
    if not isinstance(found, kind) or isinstance(found, bool):
        fields = listed([str(one) for one in entry])
        raise _Unfit(f'an entry has no {kind.__name__} "{name}" (it has: {fields})')
    return found
