"""Subscription languages, each a look-up, a filter and a matcher behind one small interface."""
