"""What people may be called."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.wire.limits import DISPLAY_NAME_MAX
from libs.wire.requests import Checks, MalformedError
from services.lobby.display_names import check_display_name, clean_display_name

TRICKY = st.sampled_from(
    "a é\u0301\u200c\u200d\u202e\u2066\u00a0\u3000\t\n\x00\x1b\u115f\u2800क्ष👩💻🇩"
)


def wrong(name: str) -> list[str]:
    """Return what is wrong with a name."""
    checks = Checks()
    check_display_name(checks, "name", name)
    try:
        checks.finish()
    except MalformedError as error:
        return [what for _, what in error.violations]
    return []


@pytest.mark.parametrize(
    "name",
    [
        "A",
        "Ann",
        "Ann B.",
        "x" * DISPLAY_NAME_MAX,
        "ß" * DISPLAY_NAME_MAX,
        "名前",
        "क्\u200dष",
        "पर\u200cक",
        "👩\u200d💻",
    ],
)
def test_a_name_may_be_in_any_script(name: str) -> None:
    assert wrong(name) == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * (DISPLAY_NAME_MAX + 1),
        " Ann",
        "Ann ",
        "Ann  B",
        "An\tn",
        "An\nn",
        "An\x00n",
        "An\x7fn",
        "\u202eAnn",
        "An\u2066n",
        "An\u200en",
        "An\u00adn",
        "An\u00a0n",
        "An\u3000n",
        "An\u2028n",
        "An\ud800n",
        "An\ue000n",
        "\ufeffAnn",
        "\u200d",
        "\u200dAnn",
        "Ann\u200c",
        "An\u200d\u200dn",
        "An \u200dn",
        "\u3164",
        "\u2800Ann",
        "\U0001d159",
        "\u0301Ann",
    ],
    ids=ascii,
)
def test_a_name_that_cannot_be_seen_or_touches_the_text_around_it_is_refused(name: str) -> None:
    assert wrong(name)


def test_a_name_is_kept_composed_and_counted_so() -> None:
    checks = Checks()
    name = check_display_name(checks, "name", "e\u0301" * DISPLAY_NAME_MAX)
    checks.finish()

    assert name == "é" * DISPLAY_NAME_MAX


@given(st.text(st.one_of(TRICKY, st.characters()), max_size=80))
def test_of_any_name_of_a_token_nothing_or_a_good_name_is_left(name: str) -> None:
    cleaned = clean_display_name(name)

    assert cleaned == "" or wrong(cleaned) == []
    assert unicodedata.normalize("NFC", cleaned) == cleaned


@given(st.text(st.one_of(TRICKY, st.characters()), min_size=1, max_size=DISPLAY_NAME_MAX))
def test_a_good_name_is_taken_over_from_a_token_as_it_is(name: str) -> None:
    composed = unicodedata.normalize("NFC", name)

    assert wrong(name) or clean_display_name(name) == composed
