"""The schema of box subscriptions."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema

NAMESPACE: Final = "urn:dens:boxes:1"

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.boxes", "boxes.xsd")
