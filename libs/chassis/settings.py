"""Settings from the environment: checked once, at the start, and never shown where they may not be.

A variable is `OPOLYX_`, then the names of the sections and of the field, joined by two underscores:
`OPOLYX_GATEWAY__PORT`. With `_FILE` after it the value is read from a file instead, which is how
secrets come in. Nothing else reads the environment.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

import pydantic_settings
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

PREFIX: Final = "OPOLYX_"
NESTING: Final = "__"
FROM_FILE: Final = "_FILE"
HIDDEN: Final = "********"

SECTIONS: Final = frozenset(
    "auth log peers store telemetry gateway lobby match_engine timer progression bot_runner".split()
)
"""The sections that there are. A process has some of them, and leaves the others' variables to
those who know them: one environment serves a whole deployment."""

_OWN: Final = "Value error, "
"""What pydantic puts before the words of a validator of ours."""

IGNORED: Final = "OPOLYX_TEST_"
"""What variables of the test run begin with."""

STANDARD: Final = {"OTEL_EXPORTER_OTLP_ENDPOINT": "OPOLYX_TELEMETRY__OTLP_ENDPOINT"}
"""Variables that everybody knows, and what they stand for here unless that is set too."""

S = TypeVar("S", bound="ServiceSettings")


class SettingsError(Exception):
    """The settings are not usable. Names variables, and what is wrong, and never a value."""


class Section(BaseModel):
    """Settings that belong together. Frozen, and knows all its fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )


class SecretUrl(SecretStr):
    """A URL that may hold a password: it is shown without."""

    def shown(self) -> str:
        """Return the URL with its password, and all that may hold one, left out."""
        parts = urlsplit(self.get_secret_value())
        if not parts.scheme:
            return HIDDEN
        user, at, host = parts.netloc.rpartition("@")
        name, colon, _ = user.partition(":")
        query = "?" + HIDDEN if parts.query else ""
        return f"{parts.scheme}://{name}{colon and ':' + HIDDEN}{at}{host}{parts.path}{query}"


class ServiceSettings(BaseSettings):
    """What a process can be told. Made by `load`; a service subclasses it and adds sections."""

    model_config = pydantic_settings.SettingsConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    data_folder: Path = Path(".opolyx")
    """Where keys, and the embedded store, are kept."""

    shutdown_grace_s: float = 10.0
    """How long whatever is going on may take to end after a signal."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic names them, and passes all
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from `load` alone, which sees to it that every variable is known."""
        return (init_settings,)

    @classmethod
    def from_environment(cls) -> Self:
        """Read the settings of this process. Raises what `load` does."""
        return load(cls, os.environ)


class Variable(NamedTuple):
    """One variable: where its value is in the settings, and what it is."""

    path: tuple[str, ...]
    field: FieldInfo


def load(cls: type[S], environment: Mapping[str, str]) -> S:
    """Make settings from environment variables.

    Raises:
        SettingsError: a variable is not known, missing, or has no usable value; all of them are
            named, one a line.

    """
    known = variables(cls)
    given = {name.upper(): value for name, value in environment.items()}
    for standard, own in STANDARD.items():
        if standard in given and own in known:
            given.setdefault(own, given[standard])
    _refuse_unknown(cls, known, given)
    source = EnvSettingsSource(cls, env_prefix=PREFIX, env_nested_delimiter=NESTING)
    source.env_vars = {
        name.lower(): value for name in known if (value := _value(name, given)) is not None
    }
    try:
        return cls(**source())
    except ValidationError as error:
        raise SettingsError("\n".join(_told(error, known))) from None
    except pydantic_settings.SettingsError:
        # One that holds a list or a table and is no JSON; pydantic names it, with its value.
        raise SettingsError("a variable that must be JSON is none") from None


def variables(cls: type[BaseModel]) -> dict[str, Variable]:
    """Return every variable that *cls* knows, by name, in the order of its fields."""
    return {PREFIX + NESTING.join(variable.path).upper(): variable for variable in _leaves(cls, ())}


class Shown(NamedTuple):
    """A setting as it may be shown."""

    variable: str
    value: str
    is_default: bool
    meaning: str


def shown(settings: ServiceSettings) -> list[Shown]:
    """Return the settings that are in force, secrets hidden (`opolyx config show`)."""
    lines = []
    for name, (path, field) in variables(type(settings)).items():
        value: Any = settings
        for step in path:
            value = getattr(value, step)
        is_default = value == field.get_default(call_default_factory=True, validated_data={})
        lines.append(Shown(name, _spelled(value), is_default, _meaning(field)))
    return lines


def _leaves(cls: type[BaseModel], path: tuple[str, ...]) -> Iterator[Variable]:
    for name, field in cls.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _leaves(kind, (*path, name))
        else:
            yield Variable((*path, name), field)


def _refuse_unknown(
    cls: type[ServiceSettings], known: Mapping[str, Variable], given: Mapping[str, str]
) -> None:
    elsewhere = SECTIONS - cls.model_fields.keys()
    unknown = [
        name
        for name in given
        if name.startswith(PREFIX)
        and not name.startswith(IGNORED)
        and name.removesuffix(FROM_FILE) not in known
        and name not in known
        and name.removeprefix(PREFIX).partition(NESTING)[0].lower() not in elsewhere
    ]
    if unknown:
        raise SettingsError("\n".join(f"{name}: there is no such setting" for name in unknown))


def _value(name: str, given: Mapping[str, str]) -> str | None:
    from_file = given.get(name + FROM_FILE)
    if from_file is None:
        return given.get(name)
    if name in given:
        raise SettingsError(f"{name}: is set, and {name}{FROM_FILE} too")
    try:
        return Path(from_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{name}{FROM_FILE}: there is no file that can be read") from None


def _told(error: ValidationError, known: Mapping[str, Variable]) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        name = PREFIX + NESTING.join(map(str, fault["loc"])).upper()
        if name in known and _is_secret(known[name].field):
            yield f"{name}: has no usable value"
        else:
            yield f"{name}: {fault['msg'].removeprefix(_OWN)}"


def _meaning(field: FieldInfo) -> str:
    """Return what the docstring of a setting says, on one line; empty if its name says all."""
    return " ".join((field.description or "").split())


def _is_secret(field: FieldInfo) -> bool:
    return "Secret" in str(field.annotation)


def _spelled(value: object) -> str:
    match value:
        case SecretUrl():
            return value.shown()
        case SecretStr():
            return HIDDEN if value.get_secret_value() else ""
        case None:
            return ""
        case _:
            return str(value)
