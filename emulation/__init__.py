"""The emulator: owns time, place, radio, chance and crash, and runs the real code for everything else."""

from dens.compiled import use_compiled

use_compiled()
