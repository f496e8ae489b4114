"""What the commands about rooms and people read and print, without a system."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from typer.testing import CliRunner

from opolyx.lobby.v1 import lobby_service_pb2 as pb
from opolyx.lobby.v1.room_pb2 import PlayedMatch, Player, Room
from opolyx.match.v1.access_pb2 import Access
from opolyx.progression.v1.profile_pb2 import CollectedCard, LeaderboardEntry, Profile, Reward
from opolyx.record.v1.event_pb2 import CollectionCard
from services.console.app import app
from services.console.exits import NOT_FOUND, USAGE
from services.console.lobby.describing import (
    describe_played,
    describe_room,
    room_lines,
    room_table,
)
from services.console.lobby.earning import (
    describe_card,
    describe_entry,
    describe_profile,
    entry_table,
    profile_lines,
)
from services.console.lobby.inviting import span
from services.console.lobby.listing import KnownRooms

ID = "01900000-0000-7000-8000-00000000000{}"
AT_MS = 1_796_061_894_793
ANN = Player(player_id=ID.format("a"), display_name="Ann \x1b[31m")


def time(at_ms: int) -> Timestamp:
    return Timestamp(seconds=at_ms // 1000, nanos=at_ms % 1000 * 1_000_000)


def room(number: int = 1, sequence: int = 1) -> Room:
    return Room(
        room_id=ID.format(number),
        sequence=sequence,
        rule_set="opolyx.classic@2",
        seats=[
            Room.Seat(seat=0, player=ANN),
            Room.Seat(seat=1, bot="novice", ready=True),
            Room.Seat(seat=2),
        ],
        visibility=Room.VISIBILITY_LISTED,
        creator_id=ANN.player_id,
        state=Room.STATE_WAITING,
        create_time=time(AT_MS),
        watching=Access.WATCHING_SEATS,
        bot_strength="steady",
    )


def all_of(*rooms: Room) -> pb.WatchRoomsResponse:
    return pb.WatchRoomsResponse(rooms=pb.WatchRoomsResponse.Rooms(rooms=rooms))


def one(changed: Room) -> pb.WatchRoomsResponse:
    return pb.WatchRoomsResponse(room=changed)


def gone(number: int) -> pb.WatchRoomsResponse:
    return pb.WatchRoomsResponse(gone_room_id=ID.format(number))


def take(known: KnownRooms, told: pb.WatchRoomsResponse) -> list[tuple[str, str]]:
    return [(change["change"], change["room_id"][-1]) for change in known.take(told)]


def test_a_room_is_described_with_null_where_there_is_nothing() -> None:
    described = describe_room(room())

    assert described["created_ms"] == AT_MS
    assert described["state"] == "waiting"
    nothing = ("match_id", "fill_ms", "expire_ms", "rematch_of", "closed_why")
    assert [described[name] for name in nothing] == [None] * len(nothing)
    assert described["seats"][1:] == [
        {"seat": 1, "player_id": None, "name": None, "bot": "novice", "ready": True},
        {"seat": 2, "player_id": None, "name": None, "bot": None, "ready": False},
    ]


def test_what_a_newer_server_says_is_unknown() -> None:
    newer = room()
    newer.MergeFromString(b"\x38\x63")  # field 7, its state, is 99
    described = describe_room(newer)

    assert described["state"] == "unknown"


def test_a_table_of_rooms_steers_no_terminal() -> None:
    header, line = room_table([describe_room(room())])

    assert header.split() == ["room", "rule", "set", "taken", "who", "opened", "(UTC)"]
    assert "2 of 3" in line
    assert r"Ann \u001b[31m, novice (bot)" in line
    assert line.endswith("2026-11-30 18:04:54")


def test_a_room_tells_who_sits_where_and_whose_it_is() -> None:
    lines = room_lines(describe_room(room()))
    [creator] = [line for line in lines if ANN.player_id in line]
    [bot] = [line for line in lines if "novice (bot)" in line]

    assert "watched by  nobody else" in "\n".join(lines)
    assert "creator" in creator
    assert "ready" in bot
    assert not any(line.startswith("match") for line in lines)


def test_rooms_are_followed_by_what_has_changed_since() -> None:
    known = KnownRooms()

    assert take(known, all_of(room(2), room(1))) == [("opened", "1"), ("opened", "2")]
    assert take(known, one(room(3))) == [("opened", "3")]
    assert take(known, one(room(1, 2))) == [("changed", "1")]
    assert take(known, gone(2)) == [("gone", "2")]
    assert take(known, gone(2)) == []
    assert [each["room_id"][-1] for each in known.listed()] == ["3", "1"]


def test_a_new_stream_tells_only_what_was_missed() -> None:
    known = KnownRooms()
    known.take(all_of(room(3), room(2), room(1)))

    told = take(known, all_of(room(4), room(3, 5), room(1)))

    assert told == [("gone", "2"), ("changed", "3"), ("opened", "4")]
    assert take(known, one(room(3, 4))) == []
    assert take(known, pb.WatchRoomsResponse()) == []


def test_a_match_that_goes_on_has_no_place_and_no_end() -> None:
    played = PlayedMatch(
        match_id=ID.format(5),
        seats=[Room.Seat(seat=0, player=ANN)],
        outcome=PlayedMatch.OUTCOME_PLAYING,
        start_time=time(AT_MS),
    )
    described = describe_played(played)

    assert (described["outcome"], described["place"], described["ended_ms"]) == (
        "playing",
        None,
        None,
    )
    assert described["seats"] == [
        {"seat": 0, "player_id": ANN.player_id, "name": ANN.display_name, "bot": None}
    ]


def profile(**more: int) -> Profile:
    card = CollectedCard(
        card=CollectionCard(square=39, rarity=CollectionCard.RARITY_EPIC),
        match_id=ID.format(5),
        dropped_ms=AT_MS,
    )
    reward = Reward(match_id=ID.format(5), seat=1, experience=120, cards=[card], granted_ms=AT_MS)
    return Profile(
        player_id=ANN.player_id,
        sequence=3,
        experience=1_120,
        level=4,
        rank="Newcomer",
        level_experience=900,
        card_count=1,
        recent_rewards=[reward],
        **more,
    )


def test_a_profile_says_how_far_the_next_level_is() -> None:
    described = describe_profile(profile(next_level_experience=1_400), "ann")
    text = "\n".join(profile_lines(described, None))

    assert "level              4, Newcomer" in text
    assert "to the next level  280" in text
    assert "2026-11-30 18:04:54         120  39 epic     1  " in text


def test_at_the_last_level_there_is_no_next_one() -> None:
    described = describe_profile(profile(), "")

    assert (described["next_level_experience"], described["name"]) == (None, None)
    assert "next level" not in "\n".join(profile_lines(described, None))


def test_cards_are_listed_by_square_with_their_rarity() -> None:
    [card] = [describe_card(each) for each in profile().recent_rewards[0].cards]
    lines = profile_lines(describe_profile(profile(), "ann"), [card])

    assert card == {
        "square": 39,
        "rarity": "epic",
        "match_id": ID.format(5),
        "dropped_ms": AT_MS,
    }
    assert lines[-1].split()[:3] == ["39", "dark_blue", "2"]


def test_the_leaderboard_names_people_as_far_as_they_have_a_name() -> None:
    entry = LeaderboardEntry(place=1, player_id=ANN.player_id, experience=1_120, level=4, rank="X")
    _, named, nameless = entry_table([describe_entry(entry, "ann"), describe_entry(entry, "")])

    assert named.split() == ["1", "ann", "1,120", "4", "X", ANN.player_id]
    assert nameless.split() == ["1", "-", "1,120", "4", "X", ANN.player_id]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1_800), ("1h", 3_600), ("7d", 604_800)]
)
def test_a_time_is_a_number_with_its_unit(text: str, seconds: int) -> None:
    assert span(text).seconds == seconds


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["rooms", "show", "here"], USAGE),
        (["rooms", "invite", ID.format(1), "--ttl", "soon"], USAGE),
        (["rooms", "invite", ID.format(1), "--ttl", "1w"], USAGE),
        (["rooms", "list", "--watch", "-o", "json"], USAGE),
        (["rooms", "list", "--rule-set", "opolyx.chess@1"], NOT_FOUND),
        (["rooms", "create", "--rule-set", "opolyx.chess@1"], NOT_FOUND),
        (["rooms", "create", "--seats", "7"], USAGE),
        (["rooms", "create", "--bot-strength", "god"], USAGE),
        (["rooms", "create", "--watching", "nobody"], USAGE),
        (["rooms", "add-bot", ID.format(1), "--strength", "god"], USAGE),
        (["rooms", "kick", ID.format(1), "-1"], USAGE),
        (["matches", "--mine", "--running"], USAGE),
        (["profile", "ann"], USAGE),
        (["profile", "--watch", "-o", "json"], USAGE),
        (["quick-match", "--auto", "god"], USAGE),
        (["quick-match", "--play", "-o", "json"], USAGE),
        (["quick-match", "--seats", "9"], USAGE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_told_before_anybody_is_asked(
    cli: CliRunner, arguments: list[str], code: int
) -> None:
    told = cli.invoke(app, arguments)

    assert (told.exit_code, told.stdout) == (code, "")
    assert told.stderr
