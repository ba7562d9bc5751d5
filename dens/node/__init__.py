"""A node as a process of its own: its file, its parts, and how it lives."""

from dens.compiled import use_compiled

use_compiled()
