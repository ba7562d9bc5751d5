"""The fuzzy subscription language: XML in, seventeen bytes out, matched by degree."""

from typing import Final

NAMESPACE: Final = "urn:dens:subscription:1"
"""The XML namespace of its documents."""
