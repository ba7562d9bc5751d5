"""Short ways to write subscriptions for tests."""

from knowledge_manager.mission_table import load_mission_table
from plugins.authoring import CompileOptions
from plugins.board_vectors import encode_body, encode_notification, subscription_body
from plugins.fuzzy.authoring.compiler import CompiledFuzzy, compile_subscription
from plugins.fuzzy.codec import FuzzyCodec
from watchdog.header import BODY_AT
from watchdog.vector import NOTIFICATION, kind

TABLE = load_mission_table(["medical", "weather", "fire"])

EXAMPLE = b"""\
<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT2H" threshold="0.6">
  <approximate-predicate attribute="patient_temperature">
    <domain min="30" max="45" unit="degC"/>
    <fuzzy-set term="high"><trapezoidal left="38.5" right="45" width="1.5"/></fuzzy-set>
    <fuzzy-set term="very_high"><hedge name="very"/><term>high</term></fuzzy-set>
    <is>very_high</is>
  </approximate-predicate>
  <approximate-predicate attribute="heart_rate"><is>high</is></approximate-predicate>
  <crisp-predicate attribute="ward" operator="eq">ICU</crisp-predicate>
  <aggregating-function>harmonic_mean</aggregating-function>
</subscription>
"""


def subscription(body: str, event: str = "patient", attributes: str = "") -> bytes:
    """Return a document with this body."""
    opening = f'<subscription xmlns="urn:dens:subscription:1" event="{event}" {attributes}>'
    return f"{opening}{body}</subscription>".encode()


def compiled(body: str, event: str = "patient", attributes: str = "") -> CompiledFuzzy:
    """Compile a body against the shipped vocabularies, however far its curves stray."""
    return compile_subscription(
        subscription(body, event, attributes), "test.xml", TABLE, CompileOptions(tolerance=1.0)
    )


def triple_of(body: str, event: str = "patient") -> tuple[int, int, int]:
    """Return the three bytes of the only constraint."""
    found = compiled(body, event).constraints
    assert len(found) == 1
    return found[0].triple


def encoded_again(vector: bytes, codec: FuzzyCodec) -> bytes:
    """Decode a vector of either kind and return its encoding; `VectorError` for any other bytes."""
    if kind(vector, codec.feature_bytes) == NOTIFICATION:
        return encode_notification(codec.notification(vector))
    return vector[:BODY_AT] + encode_body(codec.subscription(subscription_body(vector)))
