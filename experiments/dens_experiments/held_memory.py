"""How much memory something holds.

It is made once before it is weighed, because the first time imports modules and compiles code, which belong
to the program and not to what it holds.
"""

import gc
import tracemalloc
from collections.abc import Callable


def held_bytes(make: Callable[[], object]) -> int:
    """Return the bytes of what `make` returns and makes for it; what it needs on the way is not counted."""
    make()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = make()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        del made
    finally:
        tracemalloc.stop()
    return after - before
