"""Use cases of runs: emulate, compare, report, sweep."""
