"""The language of composite events, number 4: sequences of events, and predictions of them."""

from typing import Final

NAMESPACE: Final = "urn:dens:composite:1"
"""The XML namespace of its documents."""
