"""One file per kind of board. A file defines `BOARD`; the registry finds it."""
