"""The protos keep their own conventions, and their comments tell the truth about refusals."""

import re
from typing import Final, get_args

import pytest

from libs.chassis.status import CODES
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules.decide import play
from libs.rules.refusals import Refusal
from libs.rules.rule_sets import RULE_SETS
from libs.wire.commands import name_of
from tests.support import protos
from tests.support.nonsense import anything
from tests.support.walks import Dice, Walk

MATCH: Final = "opolyx.match.v1"
SUBMIT: Final = f"{MATCH}.MatchService.SubmitCommand"
MUTATIONS: Final = """
SubmitCommand CreateMatch FireDeadline CreateRoom JoinRoom LeaveRoom AddBot SetReady StartMatch
SeatBots
""".split()

STATUS_CODES: Final = frozenset(
    "INVALID_ARGUMENT NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED "
    "FAILED_PRECONDITION ABORTED UNAVAILABLE UNAUTHENTICATED".split()
)
GO_PACKAGE: Final = re.compile(r'^option go_package = "([^"]+)";$', re.MULTILINE)
WORD: Final = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`")
OF_CODE: Final = re.compile(r"`([A-Z_]+)`:((?:\s*`[A-Z_]+`(?:\s\([^)]*\))?,?)+)")


class TestComments:
    @pytest.mark.parametrize("kind", "message field oneof enum value service method".split())
    def test_everything_has_one(self, kind: str) -> None:
        declared = protos.of_kind(kind)

        assert declared
        assert [element.name for element in declared if not element.comment] == []

    def test_they_are_sentences(self) -> None:
        open_ended = [
            element.name
            for element in protos.elements()
            if not element.comment.endswith((".", ":", "?")) or not element.comment[0].isprintable()
        ]

        assert not open_ended

    def test_what_an_rpc_does_is_said_in_the_third_person(self) -> None:
        first_words = {rpc.name: rpc.comment.split()[0] for rpc in protos.of_kind("method")}

        assert [name for name, word in first_words.items() if not word.endswith("s")] == []


class TestPackages:
    def test_every_file_says_where_its_go_code_belongs(self) -> None:
        """Without it `protoc-gen-go` refuses a file, and a host in it would be somebody's."""
        told = {
            path.relative_to(protos.PROTOS).as_posix(): GO_PACKAGE.findall(path.read_text("utf-8"))
            for path in (protos.PROTOS / "opolyx").rglob("*.proto")
        }

        for path, found in told.items():
            _, package, version, _ = path.split("/")
            assert found == [f"opolyx/{package}/{version};{package}{version}"], path


class TestReasons:
    def test_every_word_in_capitals_is_a_reason_a_status_code_or_a_value(self) -> None:
        values = {element.proto.name for element in protos.of_kind("value")}
        known = {*Reason, *STATUS_CODES, "OK", *values}

        unknown = {
            f"{element.name}: {word}"
            for element in protos.elements()
            for word in WORD.findall(element.comment)
            if word not in known
        }

        assert not unknown

    def test_every_reason_is_named_by_an_rpc_a_service_or_a_command(self) -> None:
        speakers = [*protos.of_kind("method"), *protos.of_kind("service"), *_commands()]
        named = {word for element in speakers for word in WORD.findall(element.comment)}

        assert [reason for reason in Reason if reason not in named] == []

    def test_a_reason_stands_under_the_status_code_that_it_has(self) -> None:
        told = {
            (element.name, code, reason)
            for element in (*protos.of_kind("method"), *protos.of_kind("service"))
            for code, reasons in OF_CODE.findall(element.comment)
            for reason in WORD.findall(reasons)
        }

        assert len({reason for _, _, reason in told}) > 30
        assert {each for each in told if CODES[Reason(each[2])].name != each[1]} == set()

    def test_every_status_code_that_a_reason_has_is_one_that_comments_may_name(self) -> None:
        assert {code.name for code in CODES.values()} == STATUS_CODES

    def test_an_rpc_names_its_errors_under_their_status_codes(self) -> None:
        """All but INVALID_REQUEST, which every RPC has and which may be explained in words."""
        bare = {
            f"{rpc.name}: {reason}"
            for rpc in protos.of_kind("method")
            for reason in _bare_reasons(rpc.comment)
            if reason != Reason.INVALID_REQUEST
        }

        assert not bare

    @pytest.mark.parametrize("rule_set", RULE_SETS)
    def test_commands_are_refused_for_nothing_that_is_not_said(self, rule_set: str) -> None:
        """Nonsense at many moments of many matches finds no reason but those in the comments."""
        told = {name_of(kind): _reasons_of(kind) for kind in _kinds()}
        common = set(WORD.findall(protos.named(SUBMIT).comment))
        untold: set[str] = set()
        for seed in range(6):
            walk, dice = Walk(rule_set, seats=4, seed=seed, has_people=seed == 0), Dice(seed)
            if seed:
                walk.deal((7, 60, 120, 200, 290)[seed - 1])
            while not walk.is_over and len(walk.steps) < 60:
                for _ in range(40):
                    command = anything(walk.match, dice)
                    decision = play(walk.match.copy(), command, walk.draws, walk.now)
                    if isinstance(decision, Refusal):
                        name, reason = name_of(command.__class__), decision.reason
                        if reason not in told[name] | common | {Reason.INVALID_REQUEST}:
                            untold.add(f"{name}: {reason}")
                walk.step()

        assert not untold


class TestConventions:
    @pytest.mark.parametrize("name", MUTATIONS)
    def test_a_mutation_has_a_command_id(self, name: str) -> None:
        (request,) = (m for m in protos.of_kind("message") if m.name.endswith(f".{name}Request"))

        assert "command_id" in [field.name for field in request.proto.field]

    def test_a_list_has_pages_with_its_items_first(self) -> None:
        lists = [
            rpc.name.rpartition(".")[2]
            for rpc in protos.of_kind("method")
            if rpc.proto.name.startswith("List") and rpc.proto.name != "ListLegalCommands"
        ]
        fields = {
            message.proto.name: [field.name for field in message.proto.field]
            for message in protos.of_kind("message")
        }

        assert len(lists) >= 6
        for name in lists:
            assert {"page_size", "page_token"} <= set(fields[f"{name}Request"])
            assert fields[f"{name}Response"][1] == "next_page_token"

    def test_a_request_of_a_player_names_no_seat_but_one_that_is_chosen(self) -> None:
        """A seat is the token's; `seat` of a room is a chair, and `seats` say who is to play."""
        seats = {
            field.name
            for field in protos.of_kind("field")
            if field.proto.name == "seat" and ".match.v1." in field.name and "Request" in field.name
        }

        assert not seats

    def test_numbers_that_a_command_requires_can_be_seen_to_be_missing(self) -> None:
        required = [
            field for field in protos.of_kind("field") if _is_required_number_of_command(field)
        ]

        assert len(required) > 8
        assert [field.name for field in required if not field.proto.proto3_optional] == []


def _bare_reasons(comment: str) -> list[str]:
    errors = comment.partition("Errors")[2]
    return [word for word in WORD.findall(OF_CODE.sub("", errors)) if word in Reason.__members__]


def _kinds() -> tuple[type[c.Command], ...]:
    return get_args(c.SeatCommand)


def _commands() -> list[protos.Element]:
    return [protos.named(f"{MATCH}.{kind.__name__}") for kind in _kinds()]


def _reasons_of(kind: type[c.Command]) -> set[str]:
    return set(WORD.findall(protos.named(f"{MATCH}.{kind.__name__}").comment))


def _is_required_number_of_command(field: protos.Element) -> bool:
    owner = field.name.rpartition(".")[0]
    is_of_command = owner in {f"{MATCH}.{kind.__name__}" for kind in _kinds()}
    return is_of_command and field.comment.endswith("Required.")
