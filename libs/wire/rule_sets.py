"""Rule sets and boards on the wire: every switch, number and price, field by field."""

from dataclasses import fields
from typing import Final

from libs.rules.board import Board
from libs.rules.cards import BONUS, DECK
from libs.rules.rule_sets import RuleSet
from libs.wire.words import numbers_by_word
from opolyx.match.v1 import rule_set_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb

_SWITCHES: Final = tuple(field.name for field in fields(RuleSet))
_KINDS: Final = numbers_by_word(pb.Board.Kind)
_EFFECTS: Final = numbers_by_word(pb.Board.Effect)
_RARITIES: Final = numbers_by_word(record_pb.CollectionCard.Rarity)

# A switch that the wire lacked would be a rule that no client could know of.
assert tuple(field.name for field in pb.RuleSet.DESCRIPTOR.fields) == _SWITCHES


def rule_set_message(rules: RuleSet) -> pb.RuleSet:
    """Write a rule set."""
    return pb.RuleSet(**{name: getattr(rules, name) for name in _SWITCHES})


def board_message(board: Board) -> pb.Board:
    """Write a board, with the deck and the bonuses of collection cards that go with every board."""
    return pb.Board(
        board_id=board.board_id,
        squares=[
            pb.Board.Square(
                square=number,
                kind=_KINDS[square.kind],
                group=square.group,
                price=square.price,
                build_cost=square.build_cost,
                rents=square.rents,
            )
            for number, square in enumerate(board.squares)
        ],
        groups=[
            pb.Board.Group(name=name, squares=squares)
            for name, squares in zip(board.group_names, board.groups, strict=True)
        ],
        deck=[
            pb.Board.ChanceCard(card=number, effect=_EFFECTS[card.effect], amount=card.amount)
            for number, card in enumerate(DECK, start=1)
        ],
        card_bonuses=[
            pb.Board.CardBonus(
                rarity=_RARITIES[rarity], numerator=numerator, denominator=denominator
            )
            for rarity, (numerator, denominator) in BONUS.items()
        ],
    )
