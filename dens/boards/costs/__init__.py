"""What the filter costs on a board, measured on the emulated micro:bit."""
