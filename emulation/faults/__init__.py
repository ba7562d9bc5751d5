"""Fault injection: devices crash and are cut off, clocks jump, frames are lost and corrupted."""
