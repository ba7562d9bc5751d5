"""`dens doctor` tells the truth about this machine."""

from dens.app import doctor as examination


def test_a_healthy_machine(dens) -> None:
    ended = dens("doctor", "--json")
    document = ended.document()
    parts = {finding["part"]: finding for finding in document["findings"]}
    assert ended.code == 0
    assert document["healthy"] is True
    assert {
        "Python",
        "pyspark",
        "Java",
        "watchdog",
        "QEMU for ARM",
        "micro:bit firmware",
        "Node.js",
        "disk",
    } <= set(parts)
    assert parts["watchdog"]["found"] == "ours"
    assert parts["engine"]["state"] == "fine"
    assert parts["engine"]["found"] == "pure Python: DENS_PURE is set"


def test_a_missing_part_ends_1(dens, monkeypatch) -> None:
    monkeypatch.setattr(examination, "PACKAGES", ("no-such-package",))
    ended = dens("doctor")
    assert ended.code == 1
    assert "no-such-package" in ended.out
    assert "make install" in ended.out
