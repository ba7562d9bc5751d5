"""A-ToPSS, language 2: subscriptions and publications with uncertainty."""

from typing import Final

NAMESPACE: Final = "urn:dens:approximate:1"
"""The XML namespace of its documents."""
