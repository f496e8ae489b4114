"""``opolyx limits``: as a table and as JSON."""

import json

import pytest

from services.gateway.limits import limits
from services.gateway.settings import GatewaySection
from tests.support.commands import opolyx
from tests.support.played import Played


@pytest.mark.slow
@pytest.mark.postgres
def test_the_limits_of_a_system_are_printed(played: Played) -> None:
    table = played.opolyx("limits").stdout.splitlines()
    listed = json.loads(played.opolyx("limits", "-o", "json").stdout)

    names = [limit.name for limit in limits(GatewaySection())]
    assert [line.split()[0] for line in table] == ["name", *names]
    assert [each["name"] for each in listed] == names
    [streams] = [each for each in listed if each["name"] == "streams_per_person"]
    assert streams["value"] == GatewaySection().streams_per_person
    assert (streams["unit"], streams["scope"], streams["reason"]) == (
        "streams",
        "person",
        "OVERLOADED",
    )


def test_where_nothing_answers_it_says_so() -> None:
    told = opolyx("limits", "--address", "127.0.0.1:1")

    assert (told.returncode, told.stdout) == (1, "")
    assert "nothing answers at 127.0.0.1:1" in told.stderr
