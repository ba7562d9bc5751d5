"""Deterministic torture of the overlay: real engines, one seed, everything that can go wrong, an auditor.

`plan.py` draws a world from a seed, `world.py` drives it without SimPy, `audit.py` checks what SPEC §8
promises after every step, `oracles.py` bounds arrival times from the contacts alone, `torture.py` runs many
seeds.
"""
