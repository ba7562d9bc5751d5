"""The schema of composite subscriptions."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema
from plugins.composite import NAMESPACE

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.composite", "composite.xsd")
