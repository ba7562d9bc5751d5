"""The XSD of a language, which is loaded once."""

from dataclasses import dataclass
from functools import cache
from importlib import resources

from lxml import etree

_XSD = "{http://www.w3.org/2001/XMLSchema}"


@dataclass(frozen=True, slots=True)
class DocumentSchema:
    """The namespace of a language's documents, and the package and name of its XSD file."""

    namespace: str
    package: str
    file: str

    def validator(self) -> etree.XMLSchema:
        return _validator(self)

    def attributes(self) -> dict[str, list[str]]:
        """Return the attribute names that each element may have."""
        return _attributes(self)


@cache
def _tree(schema: DocumentSchema) -> "etree._Element":
    path = resources.files(schema.package) / schema.file
    # xs:include resolves against the base URL
    return etree.fromstring(path.read_bytes(), base_url=str(path))


@cache
def _validator(schema: DocumentSchema) -> etree.XMLSchema:
    return etree.XMLSchema(_tree(schema))


@cache
def _attributes(schema: DocumentSchema) -> dict[str, list[str]]:
    return {
        str(element.get("name")): [str(found.get("name")) for found in element.iter(f"{_XSD}attribute")]
        for element in _tree(schema).iterchildren(f"{_XSD}element")
    }
