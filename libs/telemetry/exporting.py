"""The OpenTelemetry SDK, kept apart so that a process without a collector never imports it."""

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def provider(service: str, version: str, endpoint: str) -> TracerProvider:
    """Return what makes spans and sends them to *endpoint* in batches, from a thread of its own."""
    resource = Resource.create({SERVICE_NAME: service, SERVICE_VERSION: version})
    # Not at exit: there a dead collector would hold the process for a minute.
    made = TracerProvider(resource=resource, shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return made
