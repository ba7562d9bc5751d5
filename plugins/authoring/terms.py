"""Terms of a vocabulary as a language expresses them, over the 256 normalised values."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from knowledge_manager.vocabulary.event_class import Attribute

Curve = npt.NDArray[np.float64]
"""A number for each byte 0..255: a degree in [0, 1], or a value of the attribute."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedTerm:
    """The nearest expressible term to a curve: its form in a vocabulary, its curve, and the largest
    difference.
    """

    written: dict[str, Any]
    curve: Curve
    deviation: float


class TermShapes(Protocol):
    """Draws and fits terms, and reports those that it cannot express."""

    def fault(self, attribute: Attribute, name: str) -> str:
        """Return why the language cannot express a term of a valid vocabulary; empty if it can."""
        ...

    def values(self, attribute: Attribute) -> Curve:
        """Return the value of the attribute in the middle of each byte."""
        ...

    def curve(self, attribute: Attribute, name: str) -> Curve:
        """Return the degrees of a term of the attribute, including its hedges."""
        ...

    def fitted(self, wanted: Curve, attribute: Attribute) -> FittedTerm:
        """Return the expressible term nearest to a curve."""
        ...
