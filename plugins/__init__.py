"""Subscription languages, each a look-up, a filter and a matcher behind one small interface."""

from dens.compiled import use_compiled

use_compiled()
