"""Fault injection: real engines, one seed, everything that can go wrong, and a checker of invariants.

`plan.py` draws a world from a seed (`plan_file.py` keeps one), `world.py` drives it without SimPy,
`invariant_checker.py` checks after every step what docs/reference/protocols.md promises, `oracles.py` bounds
arrival times from the contacts alone, `campaign.py` runs many seeds: `dens torture`.
"""
