"""Whole matches as records, played by the simplest hand that reaches every kind of event.

Each seat does what it can: it buys, builds and bets, bids a little, offers trades, pays, and lets
the clock decide where it does not know. Choices come from a hash of the seed, so a match repeats.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from libs.kernel.chance import FairDraws, commitment
from libs.kernel.ids import PlayerId, SeededIds
from libs.rules import commands as c
from libs.rules import events as e
from libs.rules import phases
from libs.rules.clocks import next_deadline
from libs.rules.decide import play
from libs.rules.match import Match
from libs.rules.refusals import Refusal
from libs.wire.chain import Chain
from libs.wire.record import SYSTEM, StoredRecord

START_MS = 1_700_000_000_000
THINKING_MS = 700
OPERATOR = "operator:0190a000-0000-7000-8000-0000000000aa"


class Table:
    """A match that is being played, and its records so far.

    The first seats are people's, so many or those whose player ids are given; the others are bots'.
    """

    def __init__(
        self, rule_set: str, seats: int, seed: int, people: int | Sequence[PlayerId] = 1
    ) -> None:
        self._entropy = sha256(f"{rule_set} {seats} {seed}".encode())
        self._choices = 0
        self.seed = self._entropy.digest()
        self._ids = SeededIds(self.seed)
        self.now = START_MS
        self.match = Match()
        self.chain = Chain(self._ids.match_id(self.now))
        self.draws = FairDraws(self.chain.match_id, self.seed)
        self.records: list[StoredRecord] = []
        if isinstance(people, int):
            people = [self._ids.player_id(self.now) for _ in range(people)]
        sitting = [e.SeatSpec(e.PERSON, player) for player in people]
        playing = [e.SeatSpec(e.BOT, "", "plain") for _ in range(seats - len(sitting))]
        specs = (*sitting, *playing)
        committed = commitment(self.chain.match_id, self.seed)
        self.send(c.CreateMatch(self.chain.match_id, rule_set, specs, committed), SYSTEM)

    def send(self, command: c.Command, actor: str) -> bool:
        """Decide a command and record what it causes; False if it is refused."""
        self.now += THINKING_MS
        decision = play(self.match, command, self.draws, self.now)
        if isinstance(decision, Refusal):
            return False
        command_id = self._ids.command_id(self.now)
        self.records.append(self.chain.join(command_id, actor, self.now, decision))
        return True

    def act(self, command: c.SeatCommand) -> bool:
        """Send a seat's command."""
        return self.send(command, f"seat:{command.seat}")

    def choose(self, below: int) -> int:
        """Make a choice that depends on the seed and on the choices before."""
        self._choices += 1
        hashed = self._entropy.copy()
        hashed.update(self._choices.to_bytes(8, "big"))
        return int.from_bytes(hashed.digest()[:4], "big") % below

    def wait(self) -> None:
        """Let the next deadline pass."""
        deadline = next_deadline(self.match)
        assert deadline is not None
        self.now = max(self.now, deadline.due)
        assert self.send(c.FireDeadline(deadline.deadline_id), SYSTEM)


def play_match(
    rule_set: str = "opolyx.classic@2",
    seats: int = 4,
    seed: int = 1,
    records_max: int = 4_000,
    people: int | Sequence[PlayerId] = 1,
) -> Table:
    """Play until the match ends or has so many records."""
    table = Table(rule_set, seats, seed, people)
    while table.match.phase != phases.ENDED and len(table.records) < records_max:
        acted = any(table.act(command) for command in _ideas(table))
        if not acted:
            table.wait()
    return table


def play_to_an_end(
    rule_set: str = "opolyx.classic@2", seats: int = 4, seed: int = 1, records_max: int = 300
) -> Table:
    """Play, and let an operator abort what has not ended by itself: the seed is revealed."""
    table = play_match(rule_set, seats, seed, records_max)
    if table.match.phase != phases.ENDED:
        assert table.send(c.Abort("enough", OPERATOR), OPERATOR)
    return table


def _ideas(table: Table) -> Iterator[c.SeatCommand]:
    """Name what the seat that must decide could do, best first."""
    match = table.match
    seat = match.pending_seats()[0]
    if match.phase == phases.SEEDING:
        given = sha256(b"a person's own" + table.seed).digest()
        yield c.ContributeSeed(seat, given[: 16 + table.choose(17)])
        return
    if table.choose(60) == 0:
        return
    if match.phase == phases.ROLL:
        yield from _managing(table, seat)
        yield c.PayBail(seat)
        yield c.Roll(seat)
    elif match.phase == phases.AUCTION:
        yield c.Bid(seat) if table.choose(3) else c.Pass(seat)
    elif match.phase == phases.BUS:
        yield c.ChooseBusMove(seat, match.white_1)
    elif match.phase == phases.TELEPORT:
        yield c.ChooseTeleport(seat, table.choose(40))
    else:
        yield c.Buy(seat) if table.choose(8) else c.Decline(seat)
        yield c.Pay(seat)
        yield c.DeclareBankruptcy(seat)
        yield c.BetJackpot(seat, (1, 4, 6)[: 1 + table.choose(3)])
        yield c.PayBail(seat)
        yield c.StayInJail(seat)
        yield c.DeclineJackpot(seat)


def _managing(table: Table, seat: int) -> Iterator[c.SeatCommand]:
    match = table.match
    for offer in match.offers:
        yield (c.AcceptTrade, c.RejectTrade)[table.choose(2)](offer.receiver, offer.offer)
    properties = match.properties_of(seat)
    if not properties or table.choose(3):
        return
    square = properties[table.choose(len(properties))]
    yield c.Redeem(seat, square)
    yield c.Build(seat, square)
    other = (seat + 1 + table.choose(len(match.out) - 1)) % len(match.out)
    price = match.board.price[square]
    if table.choose(4) == 0:
        yield c.OfferTrade(seat, other, e.Side(0, (square,)), e.Side(price, ()))
        yield c.Mortgage(seat, square)
