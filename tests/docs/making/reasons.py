"""The table of refusal reasons: status code, meaning, what to do, and who names it."""

import re
from typing import Final

from libs.chassis.status import CODES
from libs.client.replies import is_passing
from libs.kernel.reasons import Reason
from libs.rules.sentences import SENTENCES
from tests.docs.making.advice import ADVICE, TOKEN_CHECKS
from tests.docs.making.markdown import made_by, page, table
from tests.docs.making.public import elements, link, linked
from tests.support.protos import Element

HERE: Final = "reasons.md"

INTRO: Final = """
Whatever is refused changes nothing and says why, in one vocabulary. A call that is refused ends
with a gRPC status whose details hold exactly one `google.rpc.ErrorInfo`: `reason` is one of these
names, `domain` is `opolyx`, `metadata` holds all that varies in the message: numbers in decimal,
several separated by commas, and as `rule` the id of the rule of the game that refused, if one did.
Beside it stand a `google.rpc.BadRequest` where fields are wrong and a `google.rpc.RetryInfo` where
the same may be sent again. Inside a stream or a reply the same is an
[`opolyx.match.v1.Refused`](api.md#opolyx.match.v1.Refused).

Go by the reason and never by the text. The set grows: a reason that you do not know is an answer
like any other, unless it comes with a time to wait. Those marked **passes** are a machine's and not
a rule's: the same request, with the same `command_id`, may be accepted after the time that is told
(100 ms and more, where none is). All others are answers; what was refused is decided anew when it
is sent again.

A status without an `ErrorInfo` is gRPC's own: `UNAVAILABLE` (nobody is there: send it again),
`DEADLINE_EXCEEDED` (it may have been carried out: send it again under the same id), `CANCELLED`,
`UNIMPLEMENTED` (no such method), `INTERNAL` (a bug of ours).
"""

TOKENS: Final = """
What `TOKEN_INVALID` has as `check` in its metadata: the first of these that did not hold.
"""

_WORD: Final = re.compile(r"`([A-Z][A-Z_]+)`")


def reasons_page() -> str:
    """Return the page."""
    head = ["reason", "status", "what it means", "what to do", "named by"]
    return page(
        "# Reasons for refusals",
        made_by("`libs/kernel/reasons.py` and the comments in [protos](../../protos/README.md)"),
        INTRO,
        table(head, (_row(reason) for reason in Reason)),
        "## Checks of a token",
        TOKENS,
        table(["`check`", "what did not hold"], (_check(*each) for each in TOKEN_CHECKS.items())),
    )


def _check(name: str, meaning: str) -> list[str]:
    return [f"`{name}`", meaning]


def _row(reason: Reason) -> list[str]:
    passes = "**Passes.** " if is_passing(reason) else ""
    return [
        f'<a id="{reason}"></a>`{reason}`',
        f"`{CODES[reason].name}`",
        SENTENCES[reason],
        passes + linked(ADVICE[reason], _HOME, HERE),
        ", ".join(link(e.name, e.proto.name, HERE) for e in _namers(reason)) or "-",
    ]


_HOME: Final = "opolyx.match.v1.MatchService"
"""From where names in advice are looked up: most are of playing."""


def _namers(reason: Reason) -> list[Element]:
    """Return the services, RPCs and commands whose comments name a reason."""
    return [
        element
        for element in elements()
        if _may_refuse(element) and reason in _WORD.findall(element.comment)
    ]


def _may_refuse(element: Element) -> bool:
    is_command = element.kind == "message" and element.name.startswith("opolyx.match.v1.")
    return element.kind in ("service", "method") or is_command
