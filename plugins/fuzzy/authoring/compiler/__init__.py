"""From a subscription written by a person to its vector, in visible steps, one module each:

`document` (bytes → elements), `predicates` (→ wishes), `curves` and `fit` (→ constraints), `encode` (→
vector).
"""

from plugins.fuzzy.authoring.compiler.compile import Compiled, check_subscription_file, compile_subscription

__all__ = ["Compiled", "check_subscription_file", "compile_subscription"]
