"""Coverage-guided fuzzing of the way from XML to a vector: a vector or DocumentError, nothing else."""

import sys

import atheris

with atheris.instrument_imports(include=["plugins", "knowledge_manager"]):
    from dens.config.problems import DocumentError
    from knowledge_manager.mission_table import load_mission_table
    from plugins.fuzzy.authoring.compiler import compile_subscription
    from plugins.fuzzy.authoring.decompile import decompile

TABLE = load_mission_table(["medical", "weather", "fire"])


def try_one(data: bytes) -> None:
    """Compile one input, and what comes of it once more."""
    try:
        compiled = compile_subscription(data, "fuzz.xml", TABLE)
    except DocumentError:
        return
    again = compile_subscription(decompile(compiled.vector, TABLE).encode(), "again.xml", TABLE)
    if again.vector != compiled.vector:
        raise AssertionError("decompiled otherwise")


atheris.Setup(sys.argv, try_one)
atheris.Fuzz()
