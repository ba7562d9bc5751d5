"""From a subscription document to its vector, one module per step:

`plugins.authoring.xml.document` (bytes → elements), `predicates` (→ specs), `fit` (→ constraints), `encode`
(→ vector).
"""

from plugins.fuzzy.authoring.compiler.compile import CompiledFuzzy, compile_subscription

__all__ = ["CompiledFuzzy", "compile_subscription"]
