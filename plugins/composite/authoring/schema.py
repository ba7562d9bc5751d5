"""The schema of composite subscriptions."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema

NAMESPACE: Final = "urn:dens:composite:1"
SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.composite", "composite.xsd")
