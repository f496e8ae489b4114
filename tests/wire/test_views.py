"""A match goes out as it is seen, whole, and without a secret."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from google.protobuf.message import Message

from libs.kernel.chance import derive_key
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules.evolve import apply
from libs.rules.legal import Choice, JackpotBounds, SeedBounds, TradeBounds, legal_commands
from libs.rules.match import Match
from libs.rules.rule_sets import RULE_SETS
from libs.rules.state import THIRD_FACES, describe
from libs.rules.views import View, view
from libs.wire.chain import follow
from libs.wire.commands import command_of
from libs.wire.views import legal_messages, match_message
from opolyx.match.v1 import match_pb2 as pb
from tests.support import builders
from tests.support.matches import play_to_an_end
from tests.support.spec import Table, given
from tests.support.walks import Walk

AT_MS: Final = builders.START_MS + 123


def test_what_goes_out_is_this_and_no_more() -> None:
    """A copy on purpose: whoever adds a field says here that everybody may know it."""
    assert [field.name for field in pb.Match.DESCRIPTOR.fields] == (
        "match_id sequence chain_hash server_time_ms viewer_seat rule_set board commitment phase "
        "frozen_ms deciding_seats deadlines round turn turn_number dice doubles jump_pending seats "
        "properties auction debts offers next_card last_card winners placing"
    ).split()


class TestSecrets:
    def test_two_matches_that_differ_only_in_their_seeds_look_alike(self) -> None:
        """FAIR-2: the seeds that people gave go into every draw, and are no part of the view."""
        one, other = (_after_seeding(bytes([n]) * 16) for n in (1, 2))
        assert one.client_seeds != other.client_seeds

        for viewer in (None, 0, 1):
            seen, seen_too = (match_message(view(match, viewer), AT_MS) for match in (one, other))
            assert seen == seen_too

    def test_a_commitment_to_another_seed_changes_nothing_that_is_seen(self) -> None:
        """FAIR-2: a match knows its commitment; it goes out only where it is given."""
        matches = Match(), Match()
        for match, commitment in zip(matches, (bytes(32), bytes(range(32))), strict=True):
            specs, rule_set = builders.bots(3), "opolyx.classic@2"
            created = e.MatchCreated(builders.MATCH_ID, rule_set, "classic", specs, commitment)
            apply(match, [created])

        one, other = (match_message(view(match), AT_MS) for match in matches)
        assert one == other
        assert not one.commitment

    @pytest.mark.parametrize("rule_set", RULE_SETS)
    def test_no_state_of_a_match_holds_a_seed_or_the_key(self, rule_set: str) -> None:
        """FAIR-2: not even at the end; the seed is in the stream then, where it can be checked."""
        table = play_to_an_end(rule_set, seed=5, records_max=120)
        given_seeds = [seed for seed in table.match.client_seeds if seed]
        key = derive_key(table.chain.match_id, table.seed, table.match.client_seeds)
        match = Match()
        for record in follow(table.records):
            apply(match, record.events)
            written = match_message(view(match, 0), record.at_ms).SerializeToString()
            for secret in (table.seed, key, *given_seeds):
                assert secret not in written
                assert secret.hex().encode() not in written.lower()

        assert given_seeds

    def test_a_view_has_no_way_to_a_seed(self) -> None:
        public = {name for name in dir(View) if not name.startswith("_")}

        assert not public & {"client_seeds", "next_counter", "match", "draws", "seed"}


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_what_goes_out_is_the_state_that_people_read(rule_set: str) -> None:
    for walk in _walks(rule_set):
        match = walk.match
        told, state = match_message(view(match, 1), walk.now), describe(match, walk.now)

        assert told.match_id == match.match_id
        assert told.sequence == match.sequence
        assert told.viewer_seat == 1
        assert _table(told) == {name: state[name] for name in _table(told)}
        assert [_seat(seat) for seat in told.seats] == state["seats"]
        assert {str(p.square): _property(p) for p in told.properties} == state["properties"]
        assert (_auction(told.auction) if told.HasField("auction") else None) == state["auction"]
        assert [_debt(debt, walk.now) for debt in told.debts] == state["debts"]
        assert [_offer(offer, walk.now) for offer in told.offers] == state["offers"]
        first = min(told.deadlines, key=lambda deadline: deadline.due_ms, default=None)
        if state["deadline"] is None:
            assert first is None
        else:
            assert first is not None
            assert (first.due_ms - walk.now) / 1_000 == state["deadline"]["in_s"]


def test_a_match_is_shown_inside_a_record_too() -> None:
    """GetMatch takes any sequence, also one in the middle of what a command caused."""
    for rule_set in RULE_SETS:
        walk = Walk(rule_set, seats=4, seed=7, has_people=True).go(150)
        match = Match()
        for event in walk.events:
            apply(match, [event])
            message = match_message(view(match), AT_MS)
            assert message.sequence == match.sequence
            assert message.phase != pb.Match.PHASE_UNSPECIFIED


def test_every_field_is_told_at_some_time() -> None:
    """None was forgotten: over some matches each field of each message is set at least once."""
    told: set[str] = set()
    for rule_set in RULE_SETS:
        for walk in _walks(rule_set):
            told |= _set_fields(
                match_message(
                    view(walk.match, 0), walk.now, commitment=bytes(32), chain_hash=bytes(32)
                )
            )
    frozen = given(seats=2)
    frozen.when(c.Freeze("wait", "operator:x"))
    told |= _set_fields(match_message(view(frozen.match), AT_MS))

    assert told >= _all_fields(pb.Match.DESCRIPTOR)


def test_a_frozen_match_says_since_when() -> None:
    table = given(seats=2)
    assert not match_message(view(table.match), table.now).HasField("frozen_ms")

    table.when(c.Freeze("wait", "operator:x"))

    assert match_message(view(table.match), table.now).frozen_ms == table.now


def test_a_spectator_has_no_seat() -> None:
    assert not match_message(view(given(seats=2).match), AT_MS).HasField("viewer_seat")


class TestLegalCommands:
    @pytest.mark.parametrize("rule_set", RULE_SETS)
    def test_choices_come_back_as_the_commands_that_they_are(self, rule_set: str) -> None:
        for walk in _walks(rule_set):
            for seat in range(len(walk.match.specs)):
                listed = list(legal_commands(walk.match, seat))
                told = legal_messages(legal_commands(walk.match, seat))

                assert len(told) == len(listed)
                for message, entry in zip(told, listed, strict=True):
                    if isinstance(entry, Choice):
                        choice = message.choice
                        assert (command_of(choice.command, seat), choice.cost) == entry

    def test_a_bet_is_told_by_its_bounds(self) -> None:
        (told,) = _told(Table.dice(given(seats=2).standing({0: 17}), (1, 2)), JackpotBounds)

        assert (told.bet_jackpot.cost, told.bet_jackpot.most, told.bet_jackpot.faces) == (
            1_000,
            3,
            6,
        )

    def test_a_client_seed_is_told_by_its_bounds(self) -> None:
        match = builders.created("opolyx.classic@2", builders.people(2))

        (told,) = legal_messages(legal_commands(match, 0))

        assert (told.contribute_seed.least, told.contribute_seed.most) == (16, 32)

    def test_a_trade_is_told_by_what_each_could_give(self) -> None:
        table = given(seats=3).owned(0, 1).owned(1, 5, 15).owned(2, 6)
        (entry,) = legal_commands(table.match, 0).trades()
        assert isinstance(entry, TradeBounds)

        trade = next(
            told.offer_trade
            for told in legal_messages(legal_commands(table.match, 0))
            if told.HasField("offer_trade")
        )

        assert (list(trade.squares), trade.cash, trade.fair_share_percent) == ([1], 15_000, 50)
        assert [(p.seat, list(p.squares), p.cash, p.is_ally) for p in trade.partners] == [
            (1, [5, 15], 15_000, False),
            (2, [6], 15_000, False),
        ]


def _told(table: Table, kind: type[JackpotBounds | SeedBounds]) -> list[Any]:
    table.when(c.Roll(0))
    legal = legal_commands(table.match, 0)
    pairs = zip(legal_messages(legal), legal, strict=True)
    return [message for message, entry in pairs if isinstance(entry, kind)]


def _after_seeding(seed: bytes) -> Match:
    """Return a match whose people gave these seeds, after a roll that chance did not touch."""
    draws = builders.ScriptedDraws()
    draws.dice.append((1, 2))
    match = builders.created("opolyx.classic@2", builders.people(2), draws)
    table = Table(match, draws)
    table.when(c.ContributeSeed(0, seed), c.ContributeSeed(1, seed[::-1]), c.Roll(0))
    return match


def _walks(rule_set: str) -> Iterator[Walk]:
    """Yield matches of a rule set at many moments: their beginning, dealt ones, their end."""
    for seed, in_round in ((1, 0), (2, 60), (3, 295)):
        walk = Walk(rule_set, seats=4, seed=seed, has_people=seed == 1)
        if in_round:
            walk.deal(in_round)
        for _ in range(120):
            yield walk
            if walk.is_over:
                break
            walk.step()


def _table(told: pb.Match) -> dict[str, Any]:
    dice = told.dice
    return {
        "rule_set": told.rule_set,
        "round": told.round,
        "turn": told.turn if told.HasField("turn") else None,
        "phase": pb.Match.Phase.Name(told.phase).removeprefix("PHASE_").lower(),
        "roll": [dice.white_1, dice.white_2, THIRD_FACES[dice.third]]
        if told.HasField("dice")
        else None,
        "doubles_in_turn": told.doubles,
        "jump_pending": told.jump_pending,
        "next_card": told.next_card,
        "last_card": told.last_card or None,
        "winners": list(told.winners),
        "placing": list(told.placing),
    }


def _seat(seat: pb.Match.Seat) -> dict[str, Any]:
    return {
        "cash": seat.cash,
        "square": seat.square,
        "in_jail": seat.in_jail,
        "jail_attempts": seat.jail_attempts,
        "out": seat.out,
        "missed_turns": seat.missed_turns,
        "net_worth": seat.net_worth,
        "team": seat.team if seat.HasField("team") else None,
    }


def _property(told: pb.Match.Property) -> dict[str, Any]:
    return {
        "owner": told.owner if told.HasField("owner") else None,
        "level": told.level,
        "mortgaged": told.mortgaged_round > 0,
        "mortgaged_round": told.mortgaged_round or None,
        "built_this_turn": told.built,
    }


def _auction(told: pb.Match.Auction) -> dict[str, Any]:
    return {
        "square": told.square,
        "bidder": told.bidder if told.HasField("bidder") else None,
        "leader": told.leader if told.HasField("leader") else None,
        "bid": told.bid if told.HasField("bid") else None,
        "minimum": told.minimum,
        "passed": list(told.passed),
    }


def _debt(told: pb.Match.Debt, now: int) -> dict[str, Any]:
    reasons = ("", "rent", "tax", "card", "bail")
    return {
        "debtor": told.debtor,
        "reason": reasons[told.reason],
        "amount": told.amount,
        "withheld": told.withheld,
        "creditors": [
            {"seat": share.seat if share.HasField("seat") else "bank", "amount": share.amount}
            for share in told.creditors
        ],
        "in_s": (told.due_ms - now) / 1_000,
    }


def _offer(told: pb.Match.Offer, now: int) -> dict[str, Any]:
    give, take = (
        {"cash": side.cash, "squares": list(side.squares)} for side in (told.give, told.take)
    )
    return {
        "id": told.offer,
        "from": told.proposer,
        "to": told.receiver,
        "give": give,
        "take": take,
        "expires_in_s": (told.due_ms - now) / 1_000,
    }


def _set_fields(message: Message) -> set[str]:
    """Return the full names of all fields that are set, in the message and inside it."""
    found: set[str] = set()
    for field, value in message.ListFields():
        found.add(field.full_name)
        if field.message_type is not None:
            for item in value if field.is_repeated else (value,):
                found |= _set_fields(item)
    return found


def _all_fields(descriptor: Any) -> set[str]:
    found: set[str] = set()
    for field in descriptor.fields:
        found.add(field.full_name)
        if field.message_type is not None:
            found |= _all_fields(field.message_type)
    return found
