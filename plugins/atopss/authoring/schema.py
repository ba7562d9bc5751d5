"""The schema of approximate subscriptions and publications."""

from typing import Final

from plugins.authoring.xml.schema import DocumentSchema

NAMESPACE: Final = "urn:dens:approximate:1"

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.atopss", "approximate.xsd")
