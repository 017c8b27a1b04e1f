"""Spans and log records of OpenTelemetry, as lines of the log."""

import turn
from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import ConsoleLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor


def record():
    """Writes each span into the log when it ends. Returns the provider of tracers."""
    exporter = ConsoleSpanExporter(out=turn.log(), formatter=_line)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


def record_logs():
    """Writes each log record into the log. Returns the provider of loggers."""
    exporter = ConsoleLogRecordExporter(out=turn.log(), formatter=_line)
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    _logs.set_logger_provider(provider)
    return provider


def _line(record):
    return record.to_json(indent=None) + "\n"
