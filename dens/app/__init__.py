"""Use cases: functions that return values and print nothing. The CLI and the Python API call them."""
