import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import Int32Value, StringValue
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.chassis.admission import Door
from libs.chassis.edge import Terms
from libs.chassis.identity import NOBODY
from libs.chassis.issuing import DevelopmentIssuer
from libs.chassis.limiting import Limiter, OpenStreams, Rate
from libs.chassis.roles import ANYONE, OPERATOR, PERSON, SPECTATOR, AllowList, service
from libs.chassis.sections import AuthSettings, ServerSettings
from libs.chassis.status import RefusedError
from libs.kernel.clock import ManualClock
from libs.kernel.reasons import Reason
from opolyx.engine.v1.caller_pb2 import Caller
from tests.chassis import echo
from tests.chassis.answers import answer, everything, failure, infos
from tests.chassis.conftest import NOW_MS, Serve
from tests.support.waiting import until

ALLOWED = AllowList(
    {
        f"{echo.NAME}/Echo": [PERSON, service("gateway"), service("timer")],
        f"{echo.NAME}/Count": [PERSON, SPECTATOR],
        f"{echo.NAME}/Sum": [OPERATOR],
        f"{echo.NAME}/Chat": [ANYONE],
        f"{echo.NAME}/ReadAndWrite": [service("gateway")],
    }
)


@pytest.fixture
def terms(open_terms: Terms, issuer: DevelopmentIssuer) -> Terms:
    """Terms of a server that asks who you are."""
    door = Door(
        allowed=ALLOWED,
        people=issuer.people(),
        services=issuer.services(),
        believed={"gateway"},
    )
    return replace(open_terms, door=door)


def bearer(token: str) -> dict[str, Any]:
    return {"metadata": (("authorization", f"Bearer {token}"),)}


async def test_a_person_is_known_to_the_servicer(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    served = await serve(terms)

    said = await served.stub.say("who", **bearer(issuer.issue("ann", roles=[OPERATOR])))

    assert said.startswith("ann operator+person ")


async def test_without_a_token_nobody_gets_in(serve: Serve, terms: Terms) -> None:
    served = await serve(terms)

    error = await failure(served.stub.say("hello"))

    [info] = infos(error)
    assert error.code() is StatusCode.UNAUTHENTICATED
    assert info.reason == "TOKEN_MISSING"
    assert not served.servicer.reached.is_set()


async def test_with_a_token_that_is_not_good_nobody_gets_in(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer, tmp_path: Path, clock: ManualClock
) -> None:
    served = await serve(terms)
    other = DevelopmentIssuer.open(tmp_path / "other", AuthSettings(), clock)
    audience = DevelopmentIssuer.open(tmp_path, AuthSettings(audience="others"), clock)

    for given in (
        "Bearer nonsense",
        f"Basic {issuer.issue('ann')}",
        f"Bearer {other.issue('ann')}",
        f"Bearer {audience.issue('ann')}",
    ):
        error = await failure(served.stub.say("hello", metadata=(("authorization", given),)))
        [info] = infos(error)
        assert error.code() is StatusCode.UNAUTHENTICATED
        assert info.reason == "TOKEN_INVALID"
    assert not served.servicer.reached.is_set()


async def test_an_expired_token_is_told_so(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer, clock: ManualClock
) -> None:
    served = await serve(terms)
    token = issuer.issue("ann", ttl_ms=60_000)
    clock.advance(60_000)

    got = await answer(served.stub.say("hello", **bearer(token)))

    assert got.code is StatusCode.UNAUTHENTICATED
    assert got.told is not None
    assert got.told.reason == Reason.TOKEN_EXPIRED


async def test_each_method_is_for_those_on_its_list(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    stub = (await serve(terms)).stub
    person = bearer(issuer.issue("ann"))
    spectator = bearer(issuer.issue("eve", roles=[SPECTATOR]))
    operator = bearer(issuer.issue("ops", roles=[OPERATOR]))
    timer = bearer(issuer.issue_for_service("timer"))

    async def may(call: Any) -> bool:
        try:
            await call
        except Exception as error:  # noqa: BLE001 - whatever it is, it is read
            got = await answer(_failed(error))
            assert got.code is StatusCode.PERMISSION_DENIED
            assert got.told is not None
            assert got.told.reason == Reason.NOT_ALLOWED
            return False
        return True

    for who, allowed in (
        (person, (True, True, False)),
        (spectator, (False, True, False)),
        (operator, (True, True, True)),
        (timer, (True, False, False)),
    ):
        found = (
            await may(stub.say("hello", **who)),
            await may(everything(stub.Count(Int32Value(value=1), **who))),
            await may(stub.Sum(iter([Int32Value(value=1)]), **who)),
        )
        assert found == allowed


async def _failed(error: Exception) -> None:
    raise error


async def test_what_is_for_anyone_needs_no_token_but_a_bad_one_is_refused(
    serve: Serve, terms: Terms
) -> None:
    stub = (await serve(terms)).stub
    text = [StringValue(value="a")]

    assert [m.value for m in await everything(stub.Chat(iter(text)))] == ["A"]
    got = await answer(everything(stub.Chat(iter(text), **bearer("nonsense"))))
    assert got.code is StatusCode.UNAUTHENTICATED


async def test_a_trusted_service_calls_on_behalf_of_others(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    stub = (await serve(terms)).stub
    metadata = (
        ("authorization", f"Bearer {issuer.issue_for_service('gateway')}"),
        ("opolyx-caller-bin", Caller(player_id="ann").SerializeToString()),
    )

    assert await stub.say("on behalf", metadata=metadata) == "ann"


async def test_what_a_service_says_of_its_caller_must_be_readable(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    served = await serve(terms)
    metadata = (
        ("authorization", f"Bearer {issuer.issue_for_service('gateway')}"),
        ("opolyx-caller-bin", b"\xff"),
    )

    got = await answer(served.stub.say("on behalf", metadata=metadata))

    assert got.code is StatusCode.PERMISSION_DENIED
    assert not served.servicer.reached.is_set()


@pytest.mark.parametrize("said", [Caller(player_id="bob"), Caller()], ids=["somebody", "nobody"])
@pytest.mark.parametrize("who", ["ann", "timer"])
async def test_nobody_else_can_call_on_behalf_of_others(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer, who: str, said: Caller
) -> None:
    served = await serve(terms)
    token = issuer.issue("ann") if who == "ann" else issuer.issue_for_service(who)
    behalf = ("opolyx-caller-bin", said.SerializeToString())
    metadata = (("authorization", f"Bearer {token}"), behalf)

    got = await answer(served.stub.say("on behalf", metadata=metadata))

    assert got.code is StatusCode.PERMISSION_DENIED
    assert not served.servicer.reached.is_set()


async def test_where_no_service_may_call_its_token_is_no_good(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    stub = (await serve(replace(terms, door=replace(terms.door, services=None)))).stub

    got = await answer(stub.say("hello", **bearer(issuer.issue_for_service("gateway"))))

    assert got.code is StatusCode.PERMISSION_DENIED


async def test_a_persons_stream_ends_with_their_token(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer, clock: ManualClock
) -> None:
    served = await serve(terms)
    clock.advance(950)
    token = issuer.issue("ann", ttl_ms=1_000)
    assert clock.now_ms() == NOW_MS + 950  # so it ends in 50 ms: tokens end at whole seconds

    stream = served.stub.Count(Int32Value(value=0), **bearer(token))

    async with asyncio.timeout(10):
        got = await answer(stream.read())
    assert got.code is StatusCode.UNAUTHENTICATED
    assert got.told is not None
    assert got.told.reason == Reason.TOKEN_EXPIRED
    assert served.servicer.cancelled.is_set()


async def test_who_calls_too_often_is_told_when_to_call_again(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    limiter = Limiter(Rate(per_s=2, burst=1), monotonic_s=lambda: 0.0)
    stub = (await serve(replace(terms, door=replace(terms.door, limiter=limiter)))).stub
    ann, bob = bearer(issuer.issue("ann")), bearer(issuer.issue("bob"))
    gateway = bearer(issuer.issue_for_service("gateway"))
    await stub.say("hello", **ann)

    error = await failure(stub.say("hello", **ann))

    [info] = infos(error)
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    assert info.reason == "RATE_LIMITED"
    assert (await answer(_failed(error))).retry_after_ms == 500
    await stub.say("hello", **bob)
    for _ in range(3):
        await stub.say("hello", **gateway)


async def test_who_has_no_token_is_limited_by_address(serve: Serve, terms: Terms) -> None:
    limiter = Limiter(Rate(per_s=1, burst=2), monotonic_s=lambda: 0.0)
    stub = (await serve(replace(terms, door=replace(terms.door, limiter=limiter)))).stub
    for _ in range(2):
        await everything(stub.Chat(iter([])))

    got = await answer(everything(stub.Chat(iter([]))))

    assert got.told is not None
    assert got.told.reason == Reason.RATE_LIMITED


async def test_a_person_has_so_many_streams_open_and_no_more(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    streams = OpenStreams(2)
    served = await serve(replace(terms, door=replace(terms.door, streams=streams)))
    ann, bob = bearer(issuer.issue("ann")), bearer(issuer.issue("bob"))

    def count(who: dict[str, Any], number: int = 0) -> Any:
        return served.stub.Count(Int32Value(value=number), **who)

    opened = [count(ann) for _ in range(2)]
    await until(lambda: streams._open["ann"] == 2)
    got = await answer(everything(count(ann)))
    others = await everything(count(bob, 3))
    opened[0].cancel()
    await until(lambda: streams._open["ann"] == 1)

    assert len(others) == 3
    assert len(await everything(count(ann, 3))) == 3
    assert got.code is StatusCode.RESOURCE_EXHAUSTED
    assert got.told is not None
    assert got.told.reason == Reason.OVERLOADED
    assert got.retry_after_ms is not None
    opened[1].cancel()
    await until(lambda: not streams._open)


async def test_services_have_as_many_streams_as_they_need(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    door = replace(terms.door, streams=OpenStreams(1))
    stub = (await serve(replace(terms, door=door))).stub
    gateway = bearer(issuer.issue_for_service("gateway"))
    calls = [stub.ReadAndWrite(**gateway) for _ in range(3)]

    for call in calls:
        await call.write(StringValue(value="a"))

    assert [(await call.read()).value for call in calls] == ["A"] * 3


async def test_whoever_watches_the_health_is_counted_by_address(serve: Serve, terms: Terms) -> None:
    door = replace(terms.door, streams=OpenStreams(2))
    served = await serve(replace(terms, door=door))
    health: Any = health_pb2_grpc.HealthStub(served.channel)
    watches = [health.Watch(health_pb2.HealthCheckRequest()) for _ in range(2)]
    for watch in watches:
        await watch.read()

    got = await answer(everything(health.Watch(health_pb2.HealthCheckRequest())))

    assert got.told is not None
    assert got.told.reason == Reason.OVERLOADED
    checked = await health.Check(health_pb2.HealthCheckRequest())
    assert checked.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize(
    ("peers", "others"),
    [
        (["ipv4:192.0.2.1:5000", "ipv4:192.0.2.1:6000"], "ipv4:192.0.2.2:5000"),
        (["ipv6:%5B2001:db8::1%5D:5000", "ipv6:[2001:db8::2]:1"], "ipv6:%5B2001:db8:0:1::1%5D:1"),
        (["ipv6:%5Bfe80::1%25eth0%5D:5000", "ipv6:%5Bfe80::2%5D:1"], "ipv4:127.0.0.1:1"),
        (["unix:", "unix:"], "ipv4:127.0.0.1:1"),
    ],
    ids=["an address", "a network", "a link", "a socket"],
)
def test_who_has_no_token_is_counted_with_their_address_or_network(
    terms: Terms, peers: list[str], others: str
) -> None:
    door = replace(terms.door, streams=OpenStreams(1))
    door.count_stream(NOBODY, peers[0])

    with pytest.raises(RefusedError):
        door.count_stream(NOBODY, peers[1])
    door.count_stream(NOBODY, others)


async def test_nothing_is_read_from_whoever_is_not_let_in(serve: Serve, terms: Terms) -> None:
    served = await serve(terms)
    never_made: Any = served.channel.stream_unary(f"/{echo.NAME}/Echo")

    got = await answer(never_made())

    assert got.told is not None
    assert got.told.reason == Reason.TOKEN_MISSING


async def test_a_call_that_is_opened_and_never_made_ends(
    serve: Serve, terms: Terms, issuer: DevelopmentIssuer
) -> None:
    settings = ServerSettings(stream_grace_s=0, request_timeout_s=0.05)
    served = await serve(replace(terms, settings=settings))
    never_made: Any = served.channel.stream_unary(f"/{echo.NAME}/Echo")

    got = await answer(never_made(**bearer(issuer.issue("ann"))))

    assert got.code is StatusCode.INVALID_ARGUMENT
    assert got.told is not None
    assert got.told.reason == Reason.INVALID_REQUEST
    assert served.server._edge.traffic.handled == 0


def test_a_list_names_all_methods_and_no_others() -> None:
    allowed = AllowList({"a.B/C": [PERSON]})

    allowed.check(["a.B/C"])
    with pytest.raises(ValueError, match=r"a\.B/D"):
        allowed.check(["a.B/C", "a.B/D"])
    with pytest.raises(ValueError, match=r"a\.B/C"):
        allowed.check([])
    assert not allowed.admits("a.B/D", frozenset({PERSON}))
