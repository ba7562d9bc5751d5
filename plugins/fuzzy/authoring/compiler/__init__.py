"""From a subscription written by a person to its vector, in visible steps, one module each:

`document` (bytes → elements), `predicates` (→ specs), `curves` and `fit` (→ constraints), `encode` (→
vector).
"""

from plugins.fuzzy.authoring.compiler.compile import Compiled, compile_subscription

__all__ = ["Compiled", "compile_subscription"]
