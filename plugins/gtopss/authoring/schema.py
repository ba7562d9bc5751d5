"""The schema of patterns in XML."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema

NAMESPACE: Final = "urn:dens:graph:1"

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.gtopss", "pattern.xsd")
