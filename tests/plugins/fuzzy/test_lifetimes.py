"""`valid` is a duration or the code of a lifetime, written as everybody writes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from plugins.authoring.xml.root_attributes import given_lifetime_code
from plugins.fuzzy.authoring.compiler import compile_subscription
from tests.plugins.fuzzy.subscriptions import TABLE


def with_valid(valid: str) -> bytes:
    return (
        f'<subscription xmlns="urn:dens:subscription:1" event="patient" valid="{valid}">'
        '<approximate-predicate attribute="heart_rate"><is>high</is></approximate-predicate></subscription>'
    ).encode()


@given(st.integers(0, 255))
def test_every_code_is_read_as_it_is_written(code: int) -> None:
    assert given_lifetime_code(f"code:{code}") == code


@given(st.text("0123456789 +-_٣", max_size=8))
def test_nothing_else_is_a_code(text: str) -> None:
    is_code = text.isascii() and text.isdigit() and text == str(int(text)) and int(text) <= 255
    assert given_lifetime_code(f"code:{text}") == (int(text) if is_code else None)


@pytest.mark.parametrize("valid", ["code:2551", "code:0000001", "code:256", "code:00", "code:", "code:-1"])
def test_a_code_that_is_none_is_refused(valid: str) -> None:
    with pytest.raises(DocumentError, match=rf'D119: valid is "{valid}"; it is .*code:0 to code:255'):
        compile_subscription(with_valid(valid), "a.xml", TABLE)
    assert compile_subscription(with_valid("code:255"), "a.xml", TABLE).vector[2] == 255
