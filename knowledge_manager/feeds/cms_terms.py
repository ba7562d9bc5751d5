"""Reads the term tree of a content management system as a taxonomy.

WordPress exports it as `/wp-json/wp/v2/categories` (a list, or several joined pages), Drupal as
`/jsonapi/taxonomy_term/VOCABULARY` (JSON:API). Each term becomes a class with its name as label and its
parents above it. The class IRI is the term's address, or Drupal's UUID, which survives renaming.
"""

import html
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from dens.config.json_documents import parse_json
from dens.config.problems import DocumentError, listed
from dens.config.reading import refuse_large
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel
from knowledge_manager.graphs.taxonomy_reader import acyclic_taxonomy
from knowledge_manager.graphs.terms import TermError, iri, literal

LARGEST_EXPORT: Final = 16 * 1024 * 1024


class _Unfit(ValueError):
    """The export does not have the format of the system."""


class _Term(NamedTuple):
    iri: str
    label: TaxonomyLabel
    parents: tuple[str, ...]


def cms_taxonomy(content: bytes, file: str, system: str, name: str) -> Taxonomy:
    """Return the term tree of an export of `system` (one of `SYSTEMS`); invalid input raises `DocumentError`.

    Terms whose parent is not in the export become top classes, as the system shows them to users who may not
    see the parent.
    """
    refuse_large(content, file, LARGEST_EXPORT)
    try:
        found = list(SYSTEMS[system](parse_json(content, file, "D529")))
    except (_Unfit, TermError) as error:
        raise DocumentError.of_file(file, "D529", f"not an export of {system}: {error}") from None
    if not found:
        raise DocumentError.of_file(file, "D529", f"the export of {system} has no terms")
    parents = {term.iri: tuple(sorted(term.parents)) for term in found}
    return acyclic_taxonomy(Taxonomy(name, parents, {}, {term.iri: (term.label,) for term in found}), file)


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
    """Yield the UUIDs of a term's parents; the parent of a top term is called `virtual`."""
    parents = {"parent": {"data": []}} | _field({"relationships": {}} | entry, "relationships", dict)
    for parent in _field(parents["parent"], "data", list):
        yield _field(parent, "id", str)


SYSTEMS: Final[Mapping[str, Callable[[Any], Iterator[_Term]]]] = MappingProxyType(
    {"wordpress": _wordpress, "drupal": _drupal}
)
"""The supported content management systems."""


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Unfit(f"expected {what}, not {type(value).__name__}")
    return value


def _field(entry: Any, name: str, kind: type) -> Any:
    """Return a required field of an entry."""
    if not isinstance(entry, dict):
        raise _Unfit(f"an entry is {type(entry).__name__}, not an object")
    found = entry.get(name)
    if not isinstance(found, kind) or isinstance(found, bool):
        fields = listed([str(one) for one in entry])
        raise _Unfit(f'an entry has no {kind.__name__} "{name}" (it has: {fields})')
    return found
