"""The fuzzy subscription language: XML in, seventeen bytes out, matched by degree."""

from typing import Final

NAMESPACE: Final = "urn:dens:subscription:1"
"""The XML namespace of its documents."""

FEATURE_CONDITIONS: Final = ("subset", "exact")
"""`subset`: a notification serves every subscription whose attributes it contains; `exact`: the same
attributes."""
