"""Coverage-guided fuzzing of the vector decoder: only VectorError, and encode(decode(b)) == b."""

import sys

import atheris

with atheris.instrument_imports(include=["plugins", "watchdog"]):
    from knowledge_manager.mission_table import load_mission_table
    from plugins.fuzzy.authoring.describe import describe_vector
    from plugins.fuzzy.codec import FuzzyCodec
    from tests.plugins.fuzzy.subscriptions import encoded_again
    from watchdog.vector import VectorError

TABLE = load_mission_table(["medical", "weather", "fire"])
CODECS = [FuzzyCodec(None), FuzzyCodec(None, 2), FuzzyCodec(TABLE)]


def try_one(data: bytes) -> None:
    """Decode one input in every way."""
    for codec in CODECS:
        try:
            again = encoded_again(data, codec)
        except VectorError:
            continue
        if again != data:
            raise AssertionError("not canonical")
        describe_vector(data, codec.table, feature_bytes=codec.feature_bytes).as_document()


atheris.Setup(sys.argv, try_one)
atheris.Fuzz()
