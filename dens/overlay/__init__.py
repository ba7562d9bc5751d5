"""The overlay: three protocols as pure state machines. Bytes and time go in, bytes and events come out."""

from dens.compiled import use_compiled

use_compiled()
