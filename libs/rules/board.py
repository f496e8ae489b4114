"""What a board is: squares, and the tables that the rules look numbers up in.

Squares are numbers from 0 (Start), clockwise; groups are numbers from 0, in the order of the board.
The rules index plain tuples by square, which is what makes them fast; `Square` is what people read.
"""

from typing import Final, NamedTuple

SQUARES: Final = 40
START: Final = 0
JAIL: Final = 10
"""Jail, and just visiting it: the same square."""

PROPERTY_KINDS: Final = ("street", "station", "utility")
MAX_LEVEL: Final = 5


class Square(NamedTuple):
    """One square as a person reads it."""

    kind: str
    """start, street, station, utility, tax, chance, jail, corner20 or go_to_jail."""
    group: str = ""
    """The colour of a street, station, utility, or the name of a tax; else empty."""
    price: int = 0
    """List price in whole units; of a tax its amount."""
    build_cost: int = 0
    """Cost of each level in whole units; 0 where nothing can be built."""
    rents: tuple[int, ...] = ()
    """A street: by level 0-5. Stations: by 1-4 owned. Utilities: dice multiplier by 1-2 owned."""


class Board:
    """A board, with its squares laid out as tables.

    Attributes:
        squares: all squares, by number.
        kind: each square's kind. price, build_cost, rents: likewise, 0 or empty where none.
        mortgage_value: what mortgaging each square pays (MORT-1).
        level_value: what the bank gives for a level there (BUILD-3).
        group_of: the number of the group that a square belongs to, -1 for what nobody can own.
        groups: the squares of each group, ascending. group_names: their names.
        group_size: how many squares each group has. street_groups: the numbers of the streets'.
        properties: all squares that can be owned, ascending. chance: the chance squares.
        properties_ahead: from each square, all other properties in the order one comes to them.
        stations, utilities: the numbers of these two groups.
    """

    def __init__(self, board_id: str, squares: tuple[Square, ...]) -> None:
        """Lay out *squares*; a board that is not whole is a bug, found at import."""
        assert len(squares) == SQUARES
        assert squares[START].kind == "start"
        assert squares[JAIL].kind == "jail"
        self.board_id = board_id
        self.squares = squares
        self.kind = tuple(square.kind for square in squares)
        self.price = tuple(square.price for square in squares)
        self.build_cost = tuple(square.build_cost for square in squares)
        self.rents = tuple(square.rents for square in squares)
        self.mortgage_value = tuple(price // 2 for price in self.price)
        self.level_value = tuple(cost // 2 for cost in self.build_cost)
        self.properties = tuple(n for n in range(SQUARES) if squares[n].kind in PROPERTY_KINDS)
        self.chance = tuple(n for n in range(SQUARES) if squares[n].kind == "chance")
        self.group_names = tuple(dict.fromkeys(squares[n].group for n in self.properties))
        self.groups = tuple(
            tuple(n for n in self.properties if squares[n].group == name)
            for name in self.group_names
        )
        self.group_size = tuple(len(group) for group in self.groups)
        self.group_of = tuple(
            self.group_names.index(square.group) if square.kind in PROPERTY_KINDS else -1
            for square in squares
        )
        self.street_groups = tuple(
            g for g, group in enumerate(self.groups) if squares[group[0]].kind == "street"
        )
        self.properties_ahead = tuple(
            tuple(
                (origin + step) % SQUARES
                for step in range(1, SQUARES)
                if self.group_of[(origin + step) % SQUARES] >= 0
            )
            for origin in range(SQUARES)
        )
        self.stations = self.group_names.index("station")
        self.utilities = self.group_names.index("utility")
        self._check_rents()

    def is_property(self, square: int) -> bool:
        """Whether *square* is on the board and can be owned."""
        return 0 <= square < SQUARES and self.group_of[square] >= 0

    def is_street(self, square: int) -> bool:
        """Whether *square* is on the board and can be built on."""
        return 0 <= square < SQUARES and self.kind[square] == "street"

    def label(self, square: int) -> str:
        """Return a short name for people, such as ``light_blue 2`` or ``chance``."""
        here = self.squares[square]
        group = self.group_of[square]
        if group < 0:
            return here.group + " tax" if here.kind == "tax" else here.kind
        return f"{here.group} {self.groups[group].index(square) + 1}"

    def _check_rents(self) -> None:
        expected = {"street": MAX_LEVEL + 1, "station": 4, "utility": 2}
        for square in self.properties:
            here = self.squares[square]
            assert len(here.rents) == expected[here.kind], square
            assert here.price > 0, square
            assert (here.build_cost > 0) == (here.kind == "street"), square
        assert len(self.properties) == 28  # noqa: PLR2004 - BOARD-2
        assert len(self.groups) == 10  # noqa: PLR2004 - BOARD-2
        assert len(self.chance) == 6  # noqa: PLR2004 - BOARD-2
