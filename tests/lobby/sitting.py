"""A room in which people sit, without a store."""

from typing import Self

from libs.kernel.reasons import Reason
from libs.rules.refusals import Refusal
from services.lobby import commands as c
from services.lobby import events as e
from services.lobby.room import Room, apply
from services.lobby.rooms import decide

ANN, BOB, CEM, DAN = "ann", "bob", "cem", "dan"
ROOM, MATCH = "the room", "the match"


class Sitting:
    """A room that changes by what is done in it."""

    def __init__(
        self,
        seats: int = 4,
        rule_set: str = "opolyx.classic@1",
        *,
        is_listed: bool = True,
        watching: e.Watching = e.Watching.EVERYBODY,
        bot_strength: str = "steady",
    ) -> None:
        self.room = Room(room_id=ROOM, created_ms=1)
        self.do(
            c.CreateRoom(
                player=ANN,
                rule_set=rule_set,
                seat_count=seats,
                is_listed=is_listed,
                watching=watching,
                bot_strength=bot_strength,
            )
        )

    @classmethod
    def blank(cls) -> Self:
        """Return a room that is not made yet."""
        sitting = cls.__new__(cls)
        sitting.room = Room(room_id="another room", created_ms=1)
        return sitting

    def do(self, *commands: c.Command) -> tuple[e.Event, ...]:
        """Carry commands out, and return the events of the last."""
        decided: tuple[e.Event, ...] = ()
        for command in commands:
            decision = decide(self.room, command)
            assert not isinstance(decision, Refusal), decision
            decided = decision
            sequence = self.room.sequence + 1
            record = e.Record(
                room_id=ROOM, sequence=sequence, command_id="", actor="", at_ms=1, events=decided
            )
            if decided:
                self.room = apply(self.room, record)
        return decided

    def refusal(self, command: c.Command, **known: object) -> Refusal:
        decision = decide(self.room, command, **known)  # type: ignore[arg-type]
        assert isinstance(decision, Refusal), decision
        return decision

    def reason(self, command: c.Command, **known: object) -> Reason:
        return self.refusal(command, **known).reason

    def seated(self) -> list[str]:
        return [spec.player or spec.strength if spec else "" for spec in self.room.table]


def join(player: str, seat: int | None = None) -> c.JoinRoom:
    return c.JoinRoom(player=player, seat=seat)


def leave(player: str) -> c.LeaveRoom:
    return c.LeaveRoom(player=player)


def ready(player: str) -> c.SetReady:
    return c.SetReady(player=player, is_ready=True)


def bot(player: str = ANN, seat: int | None = None) -> c.AddBot:
    return c.AddBot(player=player, strength="steady", seat=seat)


def start(player: str = ANN, cards: dict[str, c.Cards] | None = None) -> c.StartMatch:
    return c.StartMatch(player=player, match_id=MATCH, cards=cards)
