"""The schema that ships with the package, loaded once."""

from functools import cache
from importlib import resources

from lxml import etree

NAMESPACE = "urn:dens:subscription:1"

_XSD = "{http://www.w3.org/2001/XMLSchema}"


@cache
def _schema_tree() -> "etree._Element":
    return etree.fromstring((resources.files("plugins.fuzzy") / "subscription.xsd").read_bytes())


@cache
def subscription_schema() -> etree.XMLSchema:
    """Return the schema of the subscription language, ready to validate."""
    return etree.XMLSchema(_schema_tree())


@cache
def schema_attributes() -> dict[str, list[str]]:
    """Return the names of the attributes that each element may have."""
    return {
        str(element.get("name")): [str(found.get("name")) for found in element.iter(f"{_XSD}attribute")]
        for element in _schema_tree().iterchildren(f"{_XSD}element")
    }
