"""The questions of the report: every module has one or more `Question` objects, which `answers.py` finds."""
