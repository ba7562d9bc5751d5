"""G-ToPSS: subscriptions that are patterns of graphs."""

from typing import Final

NAMESPACE: Final = "urn:dens:graph:1"
"""The XML namespace of its documents."""
