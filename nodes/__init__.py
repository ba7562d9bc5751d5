"""A node as a process of its own: its file, its parts, and how it lives."""

from compiled.finder import use_compiled

use_compiled()
