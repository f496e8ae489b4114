"""What the bot runner and the timer ask of their stores, whatever these are made of."""

from libs.eventlog.following import Position
from libs.kernel.ids import MatchId, PlayerId, fresh_id
from services.bot_runner.ports import BotSeatStore
from services.lobby.ports import Player, Players
from services.timer.followed import Followed
from services.timer.learning import Store

AT_MS = 1_900_000_000_000


def a_match() -> MatchId:
    return MatchId(fresh_id(AT_MS))


def at(sequence: int) -> Position:
    return Position(sequence, bytes([sequence]) * 32)


class BotSeatStoreContract:
    """To be inherited by the tests of an adapter, whose fixture `seats` is one."""

    async def test_seats_are_played_until_their_match_is_done(self, seats: BotSeatStore) -> None:
        first, second = sorted([a_match(), a_match()])
        await seats.take(second, {2: "novice", 0: "shark"})
        await seats.take(first, {1: "steady"})

        assert await seats.going_on() == {first: {1: "steady"}, second: {0: "shark", 2: "novice"}}
        await seats.finish(second)
        assert await seats.going_on() == {first: {1: "steady"}}
        await seats.take(second, {3: "novice"})
        assert await seats.going_on() == {first: {1: "steady"}}

    async def test_whoever_was_told_first_plays_but_for_the_record(
        self, seats: BotSeatStore
    ) -> None:
        match_id = a_match()
        await seats.take(match_id, {0: "shark"})
        await seats.take(match_id, {0: "novice", 1: "steady"})

        assert await seats.going_on() == {match_id: {0: "shark", 1: "steady"}}
        await seats.learn(match_id, at(3), {0: "novice"})
        assert await seats.going_on() == {match_id: {0: "novice", 1: "steady"}}
        assert await seats.position(match_id) == at(3)

    async def test_a_position_never_goes_back_but_by_being_forgotten(
        self, seats: BotSeatStore
    ) -> None:
        match_id, other = a_match(), a_match()

        assert await seats.position(match_id) == Position()
        await seats.move({match_id: at(5), other: at(2)})
        await seats.move({match_id: at(4)})
        assert [await seats.position(m) for m in (match_id, other)] == [at(5), at(2)]
        await seats.forget(match_id)
        assert await seats.position(match_id) == Position()

    async def test_the_end_that_is_learned_is_the_end(self, seats: BotSeatStore) -> None:
        match_id = a_match()
        await seats.take(match_id, {0: "shark"})
        await seats.learn_end(match_id, at(9))
        await seats.forget(match_id)
        await seats.learn(match_id, at(3), {0: "shark"})

        assert await seats.going_on() == {}

    async def test_a_match_that_nobody_told_of_has_no_end_to_be_noted(
        self, seats: BotSeatStore
    ) -> None:
        match_id = a_match()
        await seats.finish(match_id)
        await seats.take(match_id, {0: "shark"})

        assert await seats.going_on() == {match_id: {0: "shark"}}


class FollowedStoreContract:
    """To be inherited by the tests of an adapter, whose fixture `followed` is one."""

    async def test_what_is_saved_is_loaded(self, followed: Store) -> None:
        match_id = a_match()
        saved = Followed(at(4), {"roll:0:2": 7, "offer:1:3": 9}, is_frozen=True)

        assert await followed.load(match_id) == Followed()
        await followed.save({match_id: saved})
        assert await followed.load(match_id) == saved
        assert list((await followed.load(match_id)).deadlines) == ["roll:0:2", "offer:1:3"]

    async def test_nothing_goes_back_but_by_being_forgotten(self, followed: Store) -> None:
        match_id = a_match()
        await followed.save({match_id: Followed(at(4), {"roll:0:2": 7})})
        await followed.save({match_id: Followed(at(4), {"roll:0:2": 8})})
        await followed.save({match_id: Followed(at(3))})

        assert await followed.load(match_id) == Followed(at(4), {"roll:0:2": 7})
        await followed.forget(match_id)
        assert await followed.load(match_id) == Followed()

    async def test_matches_that_are_over_do_not_go_on(self, followed: Store) -> None:
        over, on = a_match(), a_match()
        await followed.save({over: Followed(at(2), is_over=True), on: Followed(at(1), {"x": 1})})
        await followed.save({})

        assert await followed.going_on() == [(on, Followed(at(1), {"x": 1}))]


class PlayersContract:
    """To be inherited by the tests of an adapter, whose fixture `players` is one."""

    async def test_a_subject_is_one_player_of_one_issuer(self, players: Players) -> None:
        ada, other = _player("Ada"), _player("Ada too")

        assert await players.resolve("here", "ada", ada, AT_MS) == ada
        assert await players.resolve("here", "ada", other, AT_MS) == ada
        assert await players.resolve("there", "ada", other, AT_MS) == other

    async def test_names_are_those_of_players_that_are_known(self, players: Players) -> None:
        ada = _player("Ada")
        await players.resolve("here", "ada", ada, AT_MS)

        assert await players.names([ada.player_id, fresh_id(AT_MS)]) == {ada.player_id: "Ada"}
        assert await players.names([]) == {}

    async def test_a_player_is_called_what_they_were_called_last(self, players: Players) -> None:
        ada, nobody = _player("Ada"), _player("Nobody")
        await players.resolve("here", "ada", ada, AT_MS)

        assert await players.rename(ada._replace(display_name="Countess"))
        assert not await players.rename(nobody)
        assert await players.names([ada.player_id, nobody.player_id]) == {ada.player_id: "Countess"}


def _player(name: str) -> Player:
    return Player(PlayerId(fresh_id(AT_MS)), name)
