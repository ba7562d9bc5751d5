"""Which text judges readings: machine code on boards whose MicroPython makes it, the plain text elsewhere.

An emitter is missing where a compiler refuses its decorators (SyntaxError), machine code may be that of
another chip (ValueError), and hosts have no such module (ImportError). All of them get the plain text, which
says what is right (docs/decisions/0019-native-kernels.md).
"""

from watchdog.fnif import FlatScan
from watchdog.scan import Scan

try:
    from watchdog.native_scan import NativeFlatScan, NativeScan

    KERNELS = "native"
    SCANS = (NativeScan, NativeFlatScan)  # type: tuple[type[Scan], type[Scan]]
except (ImportError, SyntaxError, ValueError):
    KERNELS = "plain"
    SCANS = (Scan, FlatScan)
"""What goes over a pool in blocks, and over one of FNIF."""
