"""What the test kit says to whoever uses it in a way that cannot work."""


class KitError(Exception):
    """Any of the kit's own errors."""


class MisuseError(KitError):
    """What was asked for cannot be; the text says what can."""


class NotInThisStackError(KitError):
    """A stack on memory lacks this service: nothing but PostgreSQL keeps what it keeps."""

    def __init__(self, service: str) -> None:
        super().__init__(f"a stack on memory has no {service}: run with --opolyx-store postgres")
        self.service = service


class ClockStuckError(KitError):
    """Time was let pass, and what fell due did not happen."""


class UntoldSituationError(KitError):
    """No story of events leads to the situation of a scenario file."""
