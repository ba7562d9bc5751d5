"""Advice for subscriptions that no publisher in reach can serve, in the words of the mission table."""

from collections.abc import Iterable

from dens.app.subscriptions.subscription import compiled_vector
from dens.node.assembly import assembly_of
from dens.node.output.advice import Advice
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import SubscriptionServed, SubscriptionUnserved
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table
from plugins.direct.language import DIRECT, subscription_to
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.dens.overlay.partition import Partition
from tests.paths import ROOT

TABLE = load_mission_table(["medical", "weather"])
PATIENT = ROOT / "docs" / "examples" / "patient.xml"
ALL = ("patient_temperature", "heart_rate", "oxygen_saturation")
MEDIC = 100


class Ward:
    """A medic at mediator 1, which is in contact with mediator 2; beds are at 2."""

    def __init__(self) -> None:
        self.world = Partition()
        self.world.assembly = assembly_of(TABLE, mission_key=b"mission", ends_know=True)
        self.world.add(1)
        self.world.add(2)
        self.world.add(MEDIC)
        self.world.meet((1, 2), (1, MEDIC))
        end = self.world.machines[MEDIC]
        assert isinstance(end, SubscriberEndpoint)
        self.end = end
        self.advice = Advice(end, TABLE)
        self.told: list[str | None] = []
        self.documents: list[dict[str, object]] = []

    def bed(self, number: int, attributes: Iterable[str]) -> None:
        offered = LocalDataDictionary(TABLE)
        offered.offer("patient", attributes)
        self.world.add(number, offered.extract(counter=1))
        self.world.meet((2, number))

    def ask(self) -> None:
        vector = compiled_vector(compile_subscription(PATIENT.read_bytes(), str(PATIENT), TABLE), 4)
        self.end.subscribe(vector, 1, self.world.now_ms)

    def go_on(self, for_ms: int) -> list[str | None]:
        """Return the advice printed meanwhile."""
        self.world.events[MEDIC].clear()
        self.world.drive(for_ms)
        told: list[str | None] = []
        for event in self.world.events[MEDIC]:
            self.advice.note(event)
            if isinstance(event, SubscriptionUnserved | SubscriptionServed):
                told.append(self.advice.sentence(event))
                self.documents.append(self.advice.document(event))
        return told


def test_advice_names_publishers_near_misses_and_then_the_match() -> None:
    ward = Ward()
    ward.bed(212, ALL[:2])
    ward.bed(213, ALL[:1])
    ward.world.drive(5_000)
    ward.ask()
    assert ward.go_on(5_000) == [
        "subscription 4: no node in reach can serve it: patient_temperature is measured by nodes 212, 213, "
        "heart_rate by node 212, oxygen_saturation by no node (patient); nearest: node 212 lacks "
        "oxygen_saturation, node 213 lacks heart_rate and oxygen_saturation"
    ]
    [document] = ward.documents
    assert document["subscription"] == 4
    assert document["alternatives"] == [
        {
            "event": "patient",
            "attributes": list(ALL),
            "publishers": [],
            "partial": [
                {"node": 212, "offered": list(ALL[:2]), "missing": list(ALL[2:])},
                {"node": 213, "offered": list(ALL[:1]), "missing": list(ALL[1:])},
            ],
            "measured_by": {ALL[0]: [212, 213], ALL[1]: [212], ALL[2]: []},
        }
    ]
    assert ward.go_on(100_000) == []
    ward.bed(214, ALL)
    assert ward.go_on(250_000) == ["subscription 4 can be served now, by node 214"]


def test_whoever_could_and_is_away_is_named() -> None:
    ward = Ward()
    ward.bed(214, ALL)
    ward.world.drive(5_000)
    ward.world.part(2, 214)
    ward.ask()
    [said] = ward.go_on(5_000)
    assert said is not None
    assert said.startswith(
        "subscription 4: no node in reach can serve it: patient_temperature is measured by no node"
    )
    assert said.endswith("; node 214 could, and is not in reach")
    assert ward.documents[0]["away"] == [214]


def test_where_not_everybody_answers_the_statement_is_called_partial() -> None:
    ward = Ward()
    ward.world.drive(5_000)
    ward.world.links -= {(1, 2), (2, 1)}
    ward.ask()
    [said] = ward.go_on(5_000)
    assert said is not None
    assert said.endswith("; not all nodes have answered (a node did not answer in time)")
    assert ward.documents[0]["missing"] == ["late"]


def test_what_needs_no_publisher_is_never_called_unserved() -> None:
    ward = Ward()
    ward.world.drive(5_000)
    vector = subscription_to(MEDIC, 0, 0, 90)
    ward.end.subscribe(vector, DIRECT.language_id, ward.world.now_ms)
    assert ward.go_on(100_000) == []
