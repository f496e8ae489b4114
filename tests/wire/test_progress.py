"""A player's events are checked: whatever is wrong in them is found."""

from collections.abc import Callable, Sequence
from itertools import count

import pytest

from libs.kernel.ids import MatchId, PlayerId
from libs.rules.boards.classic import CLASSIC
from libs.rules.collecting import card_commitment, draw_card
from libs.rules.rewards import level_of, rank_of
from libs.wire.events import UnreadableError
from libs.wire.progress import BrokenProgressError, check_progress, read_progress
from libs.wire.writers import card_messages
from opolyx.progression.v1 import progression_event_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb
from tests.support.builders import MATCH_ID, PLAYER_IDS

PLAYER = PlayerId(PLAYER_IDS[0])
MATCH = MatchId(MATCH_ID)
END = bytes(range(100, 132))

Events = list[pb.ProgressionEvent]


def seed(number: int) -> bytes:
    return bytes([number]) * 32


def told(
    *happened: pb.ProfileOpened | pb.MatchRewarded | pb.CardDropped | pb.CommitmentRenewed,
) -> Events:
    """Return events with these in them, numbered."""
    events = []
    for sequence, each in enumerate(happened, start=1):
        event = pb.ProgressionEvent(player_id=PLAYER, sequence=sequence)
        match each:
            case pb.ProfileOpened():
                event.profile_opened.CopyFrom(each)
            case pb.MatchRewarded():
                event.match_rewarded.CopyFrom(each)
            case pb.CardDropped():
                event.card_dropped.CopyFrom(each)
            case pb.CommitmentRenewed():
                event.commitment_renewed.CopyFrom(each)
        events.append(event)
    return events


def opened() -> pb.ProfileOpened:
    return pb.ProfileOpened(commitment=card_commitment(PLAYER, seed(0)))


def rewarded(total: int, experience: int, cards: int = 0, seat: int = 0) -> pb.MatchRewarded:
    level = level_of(total)
    return pb.MatchRewarded(
        match_id=MATCH,
        seat=seat,
        experience=experience,
        total_experience=total,
        level=level,
        rank=rank_of(level),
        card_count=cards,
    )


def dropped(number: int) -> pb.CardDropped:
    drawn = draw_card(PLAYER, seed(number), END, CLASSIC)
    [card] = card_messages([drawn.drop])
    return pb.CardDropped(
        match_id=MATCH,
        card=card,
        draw=record_pb.Draw(label="card"),
        seed=seed(number),
        chain_hash=END,
        next_commitment=card_commitment(PLAYER, seed(number + 1)),
    )


def honest() -> Events:
    return told(
        opened(),
        rewarded(0, 0),
        rewarded(310, 310, cards=1, seat=1),
        dropped(0),
        rewarded(710, 400, cards=2, seat=2),
        dropped(1),
        dropped(2),
    )


def test_honest_events_pass_and_their_cards_are_counted() -> None:
    assert check_progress(honest()) == 3


def renewed(number: int) -> pb.CommitmentRenewed:
    return pb.CommitmentRenewed(commitment=card_commitment(PLAYER, seed(number)))


def test_a_seed_that_was_lost_may_be_renewed_where_no_card_is_due() -> None:
    after = rewarded(710, 400, cards=1, seat=2)
    start = (opened(), rewarded(0, 0), rewarded(310, 310, cards=1, seat=1), dropped(0))

    assert check_progress(told(*start, renewed(7), after, dropped(7))) == 2
    with pytest.raises(BrokenProgressError, match="another seed"):
        check_progress(told(*start, renewed(7), after, dropped(1)))
    with pytest.raises(BrokenProgressError, match="a card is missing"):
        check_progress(told(*start, after, renewed(7), dropped(7)))
    with pytest.raises(BrokenProgressError, match="before the profile was opened"):
        check_progress(told(renewed(7)))


def test_nothing_at_all_passes() -> None:
    assert check_progress([]) == 0


def _set(number: int, path: str, value: object) -> Callable[[Events], Events]:
    """Return what changes one field of the event of that number."""

    def change(events: Events) -> Events:
        *steps, last = path.split(".")
        message = events[number - 1]
        for step in steps:
            message = getattr(message, step)
        setattr(message, last, value)
        return events

    return change


def _without(number: int) -> Callable[[Events], Events]:
    """Return what leaves one event out, and numbers the others anew."""

    def change(events: Events) -> Events:
        kept = [*events[: number - 1], *events[number:]]
        for event, sequence in zip(kept, count(1), strict=False):
            event.sequence = sequence
        return kept

    return change


def _again(events: Events) -> Events:
    extra = pb.ProgressionEvent()
    extra.CopyFrom(events[1])
    extra.sequence = len(events) + 1
    extra.match_rewarded.total_experience = 710
    extra.match_rewarded.level = level_of(710)
    return [*events, extra]


def _empty(events: Events) -> Events:
    return [*events, pb.ProgressionEvent(player_id=PLAYER, sequence=len(events) + 1)]


def _opened_again(events: Events) -> Events:
    extra = pb.ProgressionEvent(player_id=PLAYER, sequence=len(events) + 1, profile_opened=opened())
    return [*events, extra]


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (_set(3, "sequence", 4), "event 3 is out of order"),
        (_set(3, "player_id", PLAYER_IDS[1]), "event 3 is somebody else's"),
        (_set(3, "match_rewarded.total_experience", 311), "event 3 has a wrong sum"),
        (_set(3, "match_rewarded.experience", 311), "event 3 has a wrong sum"),
        (_set(3, "match_rewarded.experience", -310), "event 3 takes experience away"),
        (_set(3, "match_rewarded.level", 4), "event 3 has a wrong level"),
        (_set(3, "match_rewarded.rank", "Trader"), "event 3 has a wrong level"),
        (_set(3, "match_rewarded.card_count", 0), "event 4 drops a card that was not earned"),
        (_set(3, "match_rewarded.card_count", 2), "event 5 is there where a card is missing"),
        (_set(5, "match_rewarded.seat", 1), "event 5 rewards a seat again"),
        (_set(1, "profile_opened.commitment", bytes(32)), "event 4 has another seed"),
        (_set(4, "card_dropped.match_id", PLAYER), "event 4 drops a card for another match"),
        (_set(4, "card_dropped.seed", seed(9)), "event 4 has another seed"),
        (_set(4, "card_dropped.seed", b""), "event 4 has no seed"),
        (_set(4, "card_dropped.chain_hash", bytes(32)), "event 4 has another card"),
        (_set(4, "card_dropped.card.rarity", 5), "event 4 has another card"),
        (_set(4, "card_dropped.draw.counter", 1), "event 4 has another card"),
        (_set(4, "card_dropped.draw.label", "roll"), "event 4 has another card"),
        (_set(4, "card_dropped.draw.blocks", 2), "event 4 has another card"),
        (_set(4, "card_dropped.next_commitment", bytes(32)), "event 6 has another seed"),
        (_without(1), "event 1 is there before the profile was opened"),
        (_without(2), None),
        (_without(4), "event 4 is there where a card is missing"),
        (_without(7), "event 6 is the last, and a card is missing"),
        (_again, "event 8 rewards a seat again"),
        (_empty, "event 8 is not known here"),
        (_opened_again, "event 8 opens the profile again"),
    ],
)
def test_what_is_wrong_is_found(forge: Callable[[Events], Events], found: str | None) -> None:
    forged: Sequence[pb.ProgressionEvent] = forge(honest())

    if found is None:
        assert check_progress(forged) == 3
    else:
        with pytest.raises(BrokenProgressError, match=found):
            check_progress(forged)


def test_bytes_that_are_no_event_are_not_read() -> None:
    with pytest.raises(UnreadableError):
        read_progress(b"\xff")
