"""The name of every log event, log field, span attribute and metric, each with its meaning.

Nothing else makes up a name, so that operators can rely on them and a typo is a type error: loggers
take a `LogEvent` and the fields of `LogFields`, spans take the constants, and a metric can only be
had by its declaration. Add here first.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypedDict, get_args

LogEvent = Literal[
    "admin_outcome_not_noted",
    "arm_stream_lost",
    "arm_stream_opened",
    "background_work_failed",
    "bot_failed",
    "bot_move_refused",
    "bot_slow",
    "bots_left",
    "bots_not_playing",
    "bots_not_told",
    "bots_sat_down",
    "cards_not_told",
    "clock_not_measured",
    "command_accepted",
    "command_refused",
    "command_unsettled",
    "consumer_started",
    "dead_letters_over_limit",
    "delivery_dead_lettered",
    "delivery_handled",
    "development_key_made",
    "development_tokens_accepted",
    "fire_stream_lost",
    "fire_stream_opened",
    "gap_filled",
    "gap_not_filled",
    "guest_not_admitted",
    "head_unsigned",
    "key_set_unavailable",
    "lease_lapsed",
    "lease_not_released",
    "lease_not_renewed",
    "lease_taken",
    "library_said",
    "match_given_up",
    "match_left_alone",
    "match_made",
    "match_not_made",
    "match_quarantined",
    "match_read_anew",
    "match_released",
    "matches_labelled",
    "metrics_exposed",
    "person_released",
    "publishing_delayed",
    "rewards_granted",
    "room_closed_idle",
    "rpc_failed",
    "rpc_handled",
    "sealing_key_made",
    "server_drained",
    "server_listening",
    "service_drain_overran",
    "service_failed",
    "service_started",
    "service_stopped",
    "shards_claimed",
    "signing_key_made",
    "snapshot_dropped",
    "snapshot_ignored",
    "stop_requested",
    "sweep_failed",
    "traces_exported",
    "traces_shutdown_overran",
    "turn_failed",
    "unpublished_found",
    "zombie_dropped",
]
"""What may happen, in the past tense. The `event` of a log line."""

LOG_EVENTS: Final[dict[LogEvent, str]] = {
    "admin_outcome_not_noted": "An operator's call was done, and the store did not take how.",
    "arm_stream_lost": "The timer service is away; the engine's own sweeper fires meanwhile (T6).",
    "arm_stream_opened": "The timer service is told of deadlines, first of all that are loaded.",
    "background_work_failed": "Work that restarts by itself ended in an error; it is tried again.",
    "bot_failed": "A bot's strategy had an error; a safe move was made for it.",
    "bot_move_refused": "The rules or another replica did not let a bot do what it wanted.",
    "bot_slow": "A bot took too long to choose; a safe move was made for it.",
    "bots_left": "The bots of a match have nothing left to do in it.",
    "bots_not_playing": "The bots of a match cannot get to it; it is tried again.",
    "bots_not_told": "The bot runner did not hear of its seats; the match's record tells it too.",
    "bots_sat_down": "The bots of a match began to play it, or go on after a restart.",
    "cards_not_told": "Nobody could say which cards count, so a match was not started.",
    "clock_not_measured": "The store did not tell its time; the engine's clock goes on alone.",
    "command_accepted": "The rules allowed a command, and what it did is durable.",
    "command_refused": "The rules said no, which is an answer and not an error.",
    "command_unsettled": "An append had no answer; the match is loaded anew to see (W6).",
    "consumer_started": "A group began to read topics.",
    "dead_letters_over_limit": "So much was unreadable that the reader stopped: a bad deploy?",
    "delivery_dead_lettered": "An entry that can never be handled went to its dead topic.",
    "delivery_handled": "The canonical line of a delivery; of one that went well, at debug.",
    "development_key_made": "A key for development tokens was made, at the first start.",
    "development_tokens_accepted": "Whoever reads the data folder can be anybody: not for play.",
    "fire_stream_lost": "An engine is away, or silent; what it owes an answer for is fired again.",
    "fire_stream_opened": "Deadlines are fired at an engine over a stream (T3).",
    "gap_filled": "Records that did not arrive by the log were fetched from their engine.",
    "gap_not_filled": "The engine that has the missing records does not answer; tried again.",
    "guest_not_admitted": "A guest is not let into a match yet; it is tried again if it can be.",
    "head_unsigned": "A match is over and its head is not signed, which is an incident (W10).",
    "key_set_unavailable": "The keys of the token issuer could not be fetched.",
    "lease_lapsed": "An engine lost its lease, or trusts it no longer: it serves nothing.",
    "lease_not_released": "An engine ended and could not say so; its lease lapses by itself.",
    "lease_not_renewed": "The store did not answer in time; the engine tries again.",
    "lease_taken": "An engine began to live under its name.",
    "library_said": "A library of others wrote a line, by the standard library's logging.",
    "match_given_up": "A match can never be made; its room has closed and its people are free.",
    "match_left_alone": "A newer opolyx has written the match, or its key is not here.",
    "match_made": "A room became a match.",
    "match_not_made": "A room waits for its match; it is tried again until the match is there.",
    "match_quarantined": "A match did not check out, and is not played: an incident (W2).",
    "match_read_anew": "A reader's view of a match was not its engine's, and is made again.",
    "match_released": "An operator took a match out of quarantine: all of it checks out again.",
    "matches_labelled": "Matches of an earlier release can be found by who sits in them now.",
    "metrics_exposed": "Prometheus can read the metrics of this process.",
    "person_released": "Somebody was free of a match before its records told so.",
    "publishing_delayed": "The event log or the store is away; records wait, and play does not.",
    "rewards_granted": "A match ended, and its people got what they earned.",
    "room_closed_idle": "Nothing had happened in a waiting room for long.",
    "rpc_failed": "A bug ended an RPC; the caller was told nothing but that.",
    "rpc_handled": "An RPC ended: its canonical line.",
    "sealing_key_made": "A key for secrets at rest was made, where there was none.",
    "server_drained": "A gRPC server let go of its calls and closed.",
    "server_listening": "A gRPC server takes calls.",
    "service_drain_overran": "A service was cut off, not having ended within its grace.",
    "service_failed": "A service ended in an error, and takes its process with it.",
    "service_started": "A service is ready.",
    "service_stopped": "A service has ended.",
    "shards_claimed": "An engine took shards: new ones, or those of an engine that is gone.",
    "signing_key_made": "A key for the heads of matches was made, where there was none.",
    "snapshot_dropped": "A snapshot was not kept; a load of its match takes longer (W9).",
    "snapshot_ignored": "A snapshot was not what it should be; all records were replayed.",
    "stop_requested": "The operating system, or somebody at the keyboard, asked us to stop.",
    "sweep_failed": "A match could not be swept (T6): an incident. It is left alone a while.",
    "traces_exported": "Spans go to an OpenTelemetry collector.",
    "traces_shutdown_overran": "The collector did not take the last spans; they are lost.",
    "turn_failed": "A bug ended what was done for a caller who had gone.",
    "unpublished_found": "Matches had committed records that their engine could not publish.",
    "zombie_dropped": "A record was not the one that the chain holds: an incident (R1).",
}

assert LOG_EVENTS.keys() == set(get_args(LogEvent)), "every log event has its meaning"

ROUTINE: Final[frozenset[LogEvent]] = frozenset(
    {"command_accepted", "command_refused", "delivery_handled", "rpc_handled"}
)
"""What happens for every call and every command. Of the level info where a program reads the log,
and of the level debug on a terminal, where it would carry away all else that is said."""


class LogFields(TypedDict, total=False):
    """What a log line may say besides its event. No token, payload, hand or secret is among it."""

    address: Annotated[str, "where something listens, or is called: host and port"]
    attempt: Annotated[int, "the how-manieth try, from 1"]
    caller: Annotated[str, "what called: a role, or `service:` and a name; never an account"]
    code: Annotated[str, "the gRPC status code, such as OK"]
    command: Annotated[str, "the kind of a command, such as roll"]
    command_id: Annotated[str, "the command"]
    count: Annotated[int, "how many"]
    delay_s: Annotated[float, "how long until the next try, in seconds"]
    duration_ms: Annotated[float, "how long it took, in milliseconds"]
    endpoint: Annotated[str, "where telemetry is sent"]
    error: Annotated[str, "the class of an exception, without its text"]
    first_seq: Annotated[int, "the sequence of a record's first event"]
    group: Annotated[str, "the consumer group"]
    instance: Annotated[str, "an engine, by its stable name"]
    key: Annotated[str, "the key of a log entry: the match, room or player"]
    last_seq: Annotated[int, "the sequence of a record's last event"]
    logger: Annotated[str, "whose line it is, of a library: asyncpg.pool"]
    match_id: Annotated[str, "the match"]
    method: Annotated[str, "package.Service/Method of an RPC"]
    name: Annotated[str, "of a piece of background work"]
    offset: Annotated[int, "the place in a partition"]
    outcome: Annotated[str, "what a delivery came to: handled or dead_lettered"]
    partition: Annotated[int, "the partition of a topic"]
    path: Annotated[str, "a file"]
    player_id: Annotated[str, "the person for whom a service calls"]
    reason: Annotated[str, "a stable name: of a refusal, or why something was given up"]
    received: Annotated[int, "messages that the client sent on a stream"]
    request_id: Annotated[str, "the call, as the caller names it or as we do"]
    room_id: Annotated[str, "the room"]
    seat: Annotated[int, "a seat of the match"]
    sent: Annotated[int, "messages that we sent on a stream"]
    service: Annotated[str, "the service that speaks"]
    signal: Annotated[str, "the signal, such as SIGTERM"]
    text: Annotated[str, "what a library said, in its own words"]
    topic: Annotated[str, "the topic of the event log"]
    topics: Annotated[list[str], "several of them"]


# Span attributes: OpenTelemetry's own names for what everybody has, `opolyx.` for what is ours.
RPC_SYSTEM: Final = "rpc.system"
RPC_SERVICE: Final = "rpc.service"
RPC_METHOD: Final = "rpc.method"
RPC_STATUS_CODE: Final = "rpc.grpc.status_code"
MESSAGING_DESTINATION: Final = "messaging.destination.name"
MESSAGING_GROUP: Final = "messaging.consumer.group.name"
MATCH_ID: Final = "opolyx.match.id"
COMMAND_KIND: Final = "opolyx.command.kind"
REFUSAL_REASON: Final = "opolyx.refusal.reason"
"""Why it was refused: an attribute, since a refusal is no span error."""


@dataclass(frozen=True, slots=True)
class CounterName:
    """A metric that only rises. Its name ends in `_total`."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GaugeName:
    """A metric that rises and falls."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistogramName:
    """A metric of how values spread. *buckets* are upper bounds in the unit that ends its name."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


MetricName = CounterName | GaugeName | HistogramName

SECONDS_SHORT: Final = (
    *(0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
"""For what should take milliseconds: fine about the 3 ms and 25 ms that we promise."""

SECONDS_LONG: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""For what may lag."""

# A match, a player or a request is never a label: each would be a time series of its own.
RPC_SERVER_DURATION: Final = HistogramName(
    "opolyx_rpc_server_duration_seconds",
    "From the arrival of a unary call to its answer.",
    ("service", "method", "code"),
    SECONDS_SHORT,
)
RPC_SERVER_STREAMS: Final = CounterName(
    "opolyx_rpc_server_streams_total",
    "Streams that ended, by how.",
    ("service", "method", "code"),
)
RPC_SERVER_STREAMS_OPEN: Final = GaugeName(
    "opolyx_rpc_server_streams_open",
    "Streams that are open.",
    ("service", "method"),
)
REFUSALS: Final = CounterName(
    "opolyx_refusals_total",
    "Calls that were answered with a reason.",
    ("service", "reason"),
)
MATCH_COMMANDS: Final = CounterName(
    "opolyx_match_commands_total",
    "Commands that were decided, by kind and outcome (accepted, refused, repeated).",
    ("kind", "outcome"),
)
MATCHES_ACTIVE: Final = GaugeName(
    "opolyx_matches_active",
    "Matches in the memory of this engine.",
)
SHARDS_OWNED: Final = GaugeName(
    "opolyx_shards_owned",
    "Shards of matches that this engine serves.",
)
LEASE_LAPSES: Final = CounterName(
    "opolyx_lease_lapses_total",
    "Times that this engine lost its lease, or trusted it no longer.",
)
CLOCK_OFFSET: Final = GaugeName(
    "opolyx_clock_offset_seconds",
    "By how much the store's clock was ahead of this engine's when they were compared last.",
)
EVENTSTORE_APPEND: Final = HistogramName(
    "opolyx_eventstore_append_seconds",
    "From asking to append a record to its commit.",
    buckets=SECONDS_SHORT,
)
REHYDRATE: Final = HistogramName(
    "opolyx_rehydrate_seconds",
    "From asking for a match that is not in memory to its being ready.",
    buckets=SECONDS_SHORT,
)
OUTBOX_LAG: Final = GaugeName(
    "opolyx_outbox_lag_events",
    "Events of matches that are committed and not yet in the event log.",
)
OUTBOX_ENTRIES: Final = GaugeName(
    "opolyx_outbox_entries",
    "What a service has committed and the event log does not have yet.",
    ("service",),
)
REWARDS_GRANTED: Final = CounterName(
    "opolyx_rewards_granted_total",
    "Rewards of finished matches, one for each seat of a person, by whether they brought anything.",
    ("outcome",),
)
CARDS_DROPPED: Final = CounterName(
    "opolyx_cards_dropped_total",
    "Collection cards that dropped, by rarity.",
    ("rarity",),
)
TIMER_LATENESS: Final = HistogramName(
    "opolyx_timer_lateness_seconds",
    "From when a deadline was due to when it was acted on.",
    buckets=SECONDS_LONG,
)
TIMER_FIRE_LATENESS: Final = HistogramName(
    "opolyx_timer_fire_lateness_seconds",
    "From when the timer service was to fire a deadline to its hearing that it is done.",
    buckets=SECONDS_LONG,
)
TIMER_FIRES: Final = CounterName(
    "opolyx_timer_fires_total",
    "Answers to fired deadlines: done, stale, not_due, refused, or lost if none came.",
    ("outcome",),
)
TIMER_ARMED: Final = GaugeName(
    "opolyx_timer_armed_deadlines",
    "Deadlines that the timer service knows and has not seen done.",
)
ARMING_UNTOLD: Final = GaugeName(
    "opolyx_arming_untold_matches",
    "Matches whose deadlines changed and that wait to be told to the timer service.",
)
SWEEPER_FIRES: Final = CounterName(
    "opolyx_sweeper_fires_total",
    "Deadlines that an engine fired by itself, being overdue (T6): is the timer service well?",
)
LOG_APPEND: Final = HistogramName(
    "opolyx_log_append_seconds",
    "From asking to append entries to their being durable.",
    ("topic",),
    SECONDS_SHORT,
)
LOBBY_COMMANDS: Final = CounterName(
    "opolyx_lobby_commands_total",
    "Commands of rooms, by kind and outcome (accepted, refused, repeated).",
    ("kind", "outcome"),
)
CONSUMER_LAG: Final = GaugeName(
    "opolyx_consumer_lag_entries",
    "Entries of a topic's partitions that this member has not fetched yet.",
    ("group",),
)
DELIVERY_DURATION: Final = HistogramName(
    "opolyx_delivery_duration_seconds",
    "From the fetch of an entry's turn to its being handled.",
    ("group", "topic", "outcome"),
    SECONDS_SHORT,
)
DEAD_LETTERS: Final = CounterName(
    "opolyx_dead_letters_total",
    "Entries that went to a dead topic.",
    ("group", "topic"),
)
RECORDS_APPLIED: Final = CounterName(
    "opolyx_records_applied_total",
    "Match records whose effects a reader wrote (R4: the events appended are the events applied).",
    ("group",),
)
RECORDS_DROPPED: Final = CounterName(
    "opolyx_records_dropped_total",
    "Match records that a reader dropped (R1), by why: duplicate or zombie.",
    ("group", "why"),
)
RECORD_GAPS: Final = CounterName(
    "opolyx_record_gaps_total",
    "Gaps in a match's records that a reader had fetched (R1).",
    ("group",),
)
BOT_MATCHES: Final = GaugeName(
    "opolyx_bot_matches_active",
    "Matches that have bots here: those that are played, and those for which there is no room.",
    ("state",),
)
BOT_MOVES: Final = CounterName(
    "opolyx_bot_moves_total",
    "Moves of bots, by what became of them (accepted, refused, unanswered).",
    ("strength", "outcome"),
)
BOT_DEFAULTS: Final = CounterName(
    "opolyx_bot_default_moves_total",
    "Safe moves made for bots that could not choose, by why (failed, slow, refused).",
    ("strength", "why"),
)
RESTARTS: Final = CounterName(
    "opolyx_background_restarts_total",
    "Times that background work was started again after an error.",
    ("name",),
)
BUILD_INFO: Final = GaugeName(
    "opolyx_build_info",
    "Always 1; says what runs here.",
    ("version", "service"),
)
