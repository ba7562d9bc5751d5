"""A node as a process: settings file, links, storage, recording and output."""

from dens.compiled import use_compiled

use_compiled()
