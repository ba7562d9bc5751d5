"""The schema of box subscriptions."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema
from plugins.boxes import NAMESPACE

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.boxes", "boxes.xsd")
