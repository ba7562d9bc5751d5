"""The schema of fuzzy subscriptions."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema

NAMESPACE: Final = "urn:dens:subscription:1"

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.fuzzy", "subscription.xsd")
