"""What `help` says while a match is played."""

from typing import Final

HELP: Final = """\
Type the number of an entry, or its words. Words never change their meaning.

  roll  buy  decline  bid [AMOUNT]  pass        a bid is the least that is allowed
  build 6  sell 6  mortgage 6  redeem 6         6 is the number of a square
  pay  bankrupt                                 a debt; raise cash first where need be
  bail  stay  bus 7  teleport 24                out of jail; by bus; after a triple
  bet 1 3 5  keep                               the jackpot, on one to three numbers
  trade bob give 6 8 take cash 1,500            an offer; `trade` alone asks for its parts
  offers  accept 2  reject 2  withdraw 2        2 is the number of an offer
  surrender                                     gives the match up, after a question

  list     all that you may do now              board    the board
  log 30   what happened, with sequences        help     this
  why build 6   why it would be refused         explain 120   why the event 120 happened
  quit     leaves; the match goes on, and `opolyx play` comes back to it

On the board 39 2+3 says that seat 2 owns square 39 with three levels, 39 2m that it is mortgaged;
the numbers below are the seats whose tokens are there. An empty line shows how things stand."""
