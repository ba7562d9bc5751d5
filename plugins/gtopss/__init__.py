"""G-ToPSS: subscriptions are graph patterns."""

from typing import Final

NAMESPACE: Final = "urn:dens:graph:1"
"""The XML namespace of its documents."""
