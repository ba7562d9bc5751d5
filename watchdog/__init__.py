"""The part that runs on boards: integers only, nothing a 2017 MicroPython lacks."""
