"""What a language makes of the terms of a vocabulary, which are drawn over the 256 normalised values."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from knowledge_manager.vocabulary.event_class import Attribute

Curve = npt.NDArray[np.float64]
"""A number for each byte 0..255: a degree in [0, 1], or a value of the attribute."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedTerm:
    """What the language can say of a wanted curve: how a vocabulary writes it, its curve, and the largest
    difference between both.
    """

    written: dict[str, Any]
    curve: Curve
    deviation: float


class TermShapes(Protocol):
    """Draws terms, fits them, and says which it cannot express."""

    def fault(self, attribute: Attribute, name: str) -> str:
        """Return why the language cannot say a term of a sound vocabulary, or nothing where it can."""
        ...

    def values(self, attribute: Attribute) -> Curve:
        """Return the value of the attribute in the middle of each byte."""
        ...

    def curve(self, attribute: Attribute, name: str) -> Curve:
        """Return the degrees of a term of the attribute, its hedges included."""
        ...

    def fitted(self, wanted: Curve, attribute: Attribute) -> FittedTerm:
        """Return the term nearest to a wanted curve that the language can say."""
        ...
