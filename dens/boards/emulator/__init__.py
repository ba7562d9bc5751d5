"""The micro:bit's firmware in QEMU."""
