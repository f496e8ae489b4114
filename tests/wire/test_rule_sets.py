"""Clients learn every switch, number and price from the wire."""

from dataclasses import asdict

import pytest

from libs.rules.board import PROPERTY_KINDS
from libs.rules.boards.classic import CLASSIC
from libs.rules.cards import BONUS, DECK
from libs.rules.rule_sets import RULE_SETS
from libs.wire.rule_sets import board_message, rule_set_message
from opolyx.match.v1 import rule_set_pb2 as pb
from opolyx.record.v1 import event_pb2 as record_pb


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_rule_set_is_told_whole(rule_set: str) -> None:
    rules = RULE_SETS[rule_set]
    message = pb.RuleSet.FromString(rule_set_message(rules).SerializeToString())

    told = {field.name: getattr(message, field.name) for field in message.DESCRIPTOR.fields}

    assert told | {"seats": tuple(message.seats)} == asdict(rules)


def test_a_board_is_told_square_by_square() -> None:
    message = board_message(CLASSIC)

    assert message.board_id == CLASSIC.board_id
    assert [square.square for square in message.squares] == list(range(40))
    for told, square in zip(message.squares, CLASSIC.squares, strict=True):
        assert pb.Board.Kind.Name(told.kind) == f"KIND_{square.kind.upper()}"
        assert (told.group, told.price, told.build_cost) == (
            square.group,
            square.price,
            square.build_cost,
        )
        assert tuple(told.rents) == square.rents
        assert bool(told.rents) == (square.kind in PROPERTY_KINDS)


def test_a_board_is_told_with_its_groups() -> None:
    message = board_message(CLASSIC)

    assert {group.name: tuple(group.squares) for group in message.groups} == dict(
        zip(CLASSIC.group_names, CLASSIC.groups, strict=True)
    )


def test_the_deck_and_the_bonuses_of_collection_cards_are_told() -> None:
    """DECK-1, RENT-6: what a client needs to say what a card does."""
    message = board_message(CLASSIC)

    assert [card.card for card in message.deck] == list(range(1, 17))
    assert [
        (pb.Board.Effect.Name(card.effect).removeprefix("EFFECT_").lower(), card.amount)
        for card in message.deck
    ] == [tuple(card) for card in DECK]
    assert {
        record_pb.CollectionCard.Rarity.Name(bonus.rarity).removeprefix("RARITY_").lower(): (
            bonus.numerator,
            bonus.denominator,
        )
        for bonus in message.card_bonuses
    } == BONUS
