"""Authoring of subscriptions: its interface, and the parts that XML languages share (documents, spans,
schemas, constants, words).

Nothing here knows a language by name; `plugins.registry` finds them.
"""

from plugins.authoring.authoring import Authoring, Compiled, Explanation, Picture, VectorKind
from plugins.authoring.output.description import Description, VectorField

__all__ = ["Authoring", "Compiled", "Description", "Explanation", "Picture", "VectorField", "VectorKind"]
