"""What goes on a board: the watchdog as flat, small modules, and the emulated micro:bit that runs them."""
