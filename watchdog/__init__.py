"""The part that runs on boards: integers only, nothing a 2017 MicroPython lacks.

Every module here runs unchanged on CPython, on MicroPython 1.23 and 1.27 and on the micro:bit's MicroPython
1.9.2. No number on the way of a reading reaches 2**30, the largest integer that costs a board no memory.
"""
