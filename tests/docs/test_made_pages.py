"""The pages that are made say what the protos and the code say today, and leave nothing out."""

import re
from typing import Final, get_args

import pytest

from libs.chassis.identity import _CHECKS
from libs.kernel.reasons import Reason
from libs.rules import events as e
from tests.architecture.rule_ids import SPECIFIED
from tests.docs.making import public
from tests.docs.making.advice import TOKEN_CHECKS
from tests.docs.making.events import events_page, witnessed
from tests.docs.making.pages import PAGES
from tests.docs.making.reasons import reasons_page
from tests.docs.reading import DOCS, anchors_of
from tests.support.repository import ROOT

NAMES: Final = {"message", "enum", "service", "method"}


@pytest.mark.parametrize("page", PAGES)
def test_a_made_page_is_as_it_would_be_made_now(page: str) -> None:
    found = (DOCS / page).read_text(encoding="utf-8")

    assert found == PAGES[page](), "run `make docs`, and commit what it makes"


def test_every_name_of_the_public_api_is_described_once() -> None:
    anchors = [*anchors_of(PAGES["api.md"]()), *anchors_of(events_page())]
    declared = [each.name for each in public.elements() if each.kind in NAMES]

    assert [name for name in declared if anchors.count(name) != 1] == []


def test_nothing_of_the_inside_is_described() -> None:
    anchors = anchors_of(PAGES["api.md"]())

    assert [name for name in anchors if name.startswith(public.INSIDE)] == []


def test_every_reason_has_its_line() -> None:
    anchors = anchors_of(reasons_page())

    assert [reason for reason in Reason if anchors.count(reason) != 1] == []


def test_every_check_of_a_token_is_told_what_it_means() -> None:
    source = "".join(
        (ROOT / "libs/chassis" / name).read_text() for name in ("admission.py", "identity.py")
    )
    raised = {*re.findall(r'(?:_invalid\(|check=)"(\w+)"', source), *_CHECKS.values()}

    assert raised == TOKEN_CHECKS.keys()


@pytest.mark.parametrize("kind", get_args(e.Event), ids=lambda kind: kind.__name__)
def test_every_event_has_an_example_and_rules_that_there_are(kind: type[e.Event]) -> None:
    told = witnessed()[kind.__name__]

    assert isinstance(told.example, kind)
    assert told.text
    assert told.rules
    assert told.rules <= set(SPECIFIED)
