"""Fault injection for `dens torture`: real engines in a small random world, and a checker of the invariants.

`plan.py` draws a world from a seed (`plan_file.py` stores one), `world.py` drives it without SimPy,
`invariant_checker.py` checks the promises of docs/reference/protocols.md after every step, `oracles.py`
bounds arrival times from the contacts alone, and `campaign.py` runs many seeds.
"""
