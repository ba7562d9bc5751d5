"""Authoring of subscriptions: its interface, and the parts that XML languages share (documents, spans,
schemas, constants, words).

Nothing here knows a language by name; `plugins.registry` finds them.
"""

from plugins.authoring.authoring import (
    DEFAULTS,
    Authoring,
    Compiled,
    CompileOptions,
    Explanation,
    Picture,
)
from plugins.authoring.output.description import Description, VectorField, VectorKind

__all__ = [
    "DEFAULTS",
    "Authoring",
    "CompileOptions",
    "Compiled",
    "Description",
    "Explanation",
    "Picture",
    "VectorField",
    "VectorKind",
]
