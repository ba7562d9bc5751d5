"""The matching algorithms of the fuzzy language, one file each, behind one interface."""
