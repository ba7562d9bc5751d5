"""Languages of other packages, held so that what one of them does wrong ends nothing else."""

from plugins.guard.guard import LanguageDefect
from plugins.guard.guarded import guarded

__all__ = ["LanguageDefect", "guarded"]
