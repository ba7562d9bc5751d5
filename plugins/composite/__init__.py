"""The language of composite events, number 4: what follows what, and what will."""

from typing import Final

NAMESPACE: Final = "urn:dens:composite:1"
"""The XML namespace of its documents."""
