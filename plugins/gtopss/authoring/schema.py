"""The schema of patterns in XML."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema
from plugins.gtopss import NAMESPACE

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.gtopss", "pattern.xsd")
