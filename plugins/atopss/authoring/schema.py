"""The schema of approximate subscriptions and publications."""

from typing import Final

from plugins.atopss import NAMESPACE
from plugins.authoring.xml.schema import DocumentSchema

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.atopss", "approximate.xsd")
