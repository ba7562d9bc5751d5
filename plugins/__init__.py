"""Subscription languages. Each is a look-up, a source filter and a matcher behind one small interface."""

from dens.compiled import use_compiled

use_compiled()
