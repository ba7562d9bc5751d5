"""The emulator: simulates time, motion, radio, random numbers and crashes, and runs the real code for all
else.
"""

from dens.compiled import use_compiled

use_compiled()
