"""The schema of fuzzy subscriptions."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema
from plugins.fuzzy import NAMESPACE

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.fuzzy", "subscription.xsd")
