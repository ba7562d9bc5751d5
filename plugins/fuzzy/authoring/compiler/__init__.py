"""From a subscription document to its body.

`plugins.authoring.xml.document` reads the elements, `predicates` makes specs of them, `constraints` fits
three bytes to each spec, `blocks` encodes the combination, and `compile` assembles the body.
"""

from plugins.fuzzy.authoring.compiler.compile import CompiledFuzzy, compile_subscription

__all__ = ["CompiledFuzzy", "compile_subscription"]
