"""The reference of the API: every public service, message and enum, from the protos' comments."""

from typing import Final

from tests.docs.making import public
from tests.docs.making.markdown import heading, made_by, page
from tests.docs.making.messages import enum_part, message_part, type_link, words
from tests.docs.making.public import inside, link
from tests.support.protos import Element

HERE: Final = public.API_PAGE

INTRO: Final = """
Every service that can be reached through the gateway, with what each RPC does, allows and refuses,
and every message. Names are those of the proto files; in JSON they are in camel case, 64-bit
numbers are strings, bytes are base64, and what is 0, false or empty is left out. [A first
client](first-client.md) shows calls that can be pasted, [reasons](reasons.md) has all refusals in
one table, and [events](events.md) every event of a match. An RPC that is "for ... alone" is one
among services: everybody else is refused with [`NOT_ALLOWED`](reasons.md#NOT_ALLOWED).
"""


def api_page() -> str:
    """Return the page."""
    return page(
        "# API reference",
        made_by("the comments in [protos](../../protos/README.md)"),
        INTRO,
        "\n".join(_contents(package) for package in public.packages()),
        *(_package(package) for package in public.packages()),
    )


def _contents(package: str) -> str:
    lines = [f"- [`{package}`](#{package})"]
    for service in inside(package, "service"):
        calls = ", ".join(_ref(rpc) for rpc in inside(service.name, "method"))
        lines.append(f"  - {_ref(service)}: {calls}")
    shared = [each for each in _declared(package) if not _is_of_one_call(each)]
    if shared:
        lines.append(f"  - {', '.join(map(_ref, shared))}")
    return "\n".join(lines)


def _declared(package: str) -> list[Element]:
    """Return the messages and enums that this page describes."""
    found = [*inside(package, "message"), *inside(package, "enum")]
    return [each for each in found if public.page_of(each.name) == HERE]


def _is_of_one_call(message: Element) -> bool:
    """Tell whether this is a request or a response, to which the RPC leads."""
    return str(message.proto.name).endswith(("Request", "Response"))


def _package(package: str) -> str:
    return page(
        heading(2, f"`{package}`", package),
        *(_service(service) for service in inside(package, "service")),
        *(
            message_part(each, 3, HERE) if each.kind == "message" else enum_part(each, 3, HERE)
            for each in _declared(package)
        ),
    )


def _service(service: Element) -> str:
    return page(
        heading(3, f"Service {service.proto.name}", service.name),
        words(service, HERE),
        *(_rpc(rpc) for rpc in inside(service.name, "method")),
    )


def _rpc(rpc: Element) -> str:
    asked = _side(rpc.proto.input_type, is_stream=rpc.proto.client_streaming)
    told = _side(rpc.proto.output_type, is_stream=rpc.proto.server_streaming)
    service, _, name = rpc.name.rpartition(".")
    return page(
        heading(4, name, rpc.name), f"`{service}/{name}`: {asked} → {told}", words(rpc, HERE)
    )


def _side(type_name: str, *, is_stream: bool) -> str:
    linked = type_link(type_name, HERE)
    return f"stream of {linked}" if is_stream else linked


def _ref(element: Element) -> str:
    return link(element.name, element.proto.name, HERE)
