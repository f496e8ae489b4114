import pytest

from libs.wire.paging import cut_page, is_number, next_page_token, page_of, page_position
from libs.wire.requests import Checks, MalformedError
from opolyx.match.v1 import match_pb2 as match_pb
from opolyx.match.v1 import match_service_pb2 as pb


def _asked(position: str, **changes: object) -> pb.ListMatchesRequest:
    first = pb.ListMatchesRequest(mine=True, page_size=10)
    token = next_page_token(first, position)
    request = pb.ListMatchesRequest(mine=True, page_size=10, page_token=token)
    request.MergeFrom(pb.ListMatchesRequest(**changes))  # type: ignore[arg-type]
    return request


def test_a_page_goes_on_where_the_one_before_ended() -> None:
    checks = Checks()

    assert page_position(_asked("a-match"), checks, bool) == "a-match"
    assert page_position(pb.ListMatchesRequest(mine=True), checks, bool) == ""
    checks.finish()


def test_the_third_page_is_asked_for_like_the_second() -> None:
    second = _asked("a")
    third = pb.ListMatchesRequest(mine=True, page_token=next_page_token(second, "b"))
    checks = Checks()

    assert page_position(third, checks, bool) == "b"
    checks.finish()


def test_the_size_of_a_page_may_change_on_the_way() -> None:
    checks = Checks()

    assert page_position(_asked("a", page_size=99), checks, bool) == "a"
    checks.finish()


def test_a_token_of_another_request_is_none() -> None:
    checks = Checks()

    assert page_position(_asked("a", status=match_pb.MatchSummary.STATUS_ENDED), checks, bool) == ""
    with pytest.raises(MalformedError, match="page_token"):
        checks.finish()


@pytest.mark.parametrize("token", ["x", "####", "é", "AAAA", "A" * 11, "A" * 500, "_____________w"])
def test_what_is_no_token_is_refused(token: str) -> None:
    checks = Checks()

    assert page_position(pb.ListMatchesRequest(page_token=token), checks, bool) == ""
    with pytest.raises(MalformedError, match="page_token"):
        checks.finish()


def test_a_token_of_another_kind_of_listing_is_none() -> None:
    token = next_page_token(pb.ListKeysRequest(), "a")
    checks = Checks()

    assert page_position(pb.ListRuleSetsRequest(page_token=token), checks, bool) == ""
    with pytest.raises(MalformedError, match="page_token"):
        checks.finish()


@pytest.mark.parametrize("position", ["", "ten", "-1", "1" * 19, "\N{SUPERSCRIPT TWO}", "\0"])
def test_a_token_that_somebody_made_up_has_no_position_of_the_list(position: str) -> None:
    checks = Checks()

    assert page_position(_asked(position), checks, is_number) == ""
    with pytest.raises(MalformedError, match="page_token"):
        checks.finish()


@pytest.mark.parametrize("position", ["0", "17", "9" * 18])
def test_a_number_is_a_position(position: str) -> None:
    assert is_number(position)


def test_a_list_in_memory_is_read_page_by_page_to_its_end() -> None:
    first, token = page_of(pb.ListKeysRequest(page_size=2), "abc")
    last, end = page_of(pb.ListKeysRequest(page_size=2, page_token=token), "abc")

    assert (first, last, end) == ("ab", "c", "")


@pytest.mark.parametrize(("found", "position"), [("abc", "b"), ("ab", ""), ("", "")])
def test_one_entry_more_than_a_page_holds_tells_of_the_next(found: str, position: str) -> None:
    request = pb.ListMatchesRequest(mine=True)
    token = next_page_token(request, position) if position else ""

    assert cut_page(request, found, 2, str) == (found[:2], token)


def test_a_page_behind_the_last_entry_is_refused() -> None:
    token = next_page_token(pb.ListKeysRequest(), "3")

    with pytest.raises(MalformedError, match="page_token"):
        page_of(pb.ListKeysRequest(page_token=token), "abc")
