"""Frameworks whose calls are recorded by spans of OpenTelemetry or by a log of requests."""

from clients.client import newest_last
from clients.scripted import Scripted

# What makes instrumentations write the texts, in the newest form that they have.
WITH_TEXTS = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE": "true",
    "TRACELOOP_TRACE_CONTENT": "true",
}


class Framework(Scripted):
    """A framework whose script writes what is recorded into one log, in the folder that ctxgauge searches for it."""

    plans = ("short", "long", "models", "resume")

    def __init__(self, name, *packages, folder="spans"):
        # Its logs have no format of their own: this is what the table calls it.
        self.name = self.agent = name
        self.packages, self._folder = packages, folder

    def environment(self, home, url, options):
        own = {"LAB_LOG": str(self._log(home)), "OTEL_SERVICE_NAME": self.name}
        return super().environment(home, url, options) | WITH_TEXTS | own

    def configure(self, home, work, url, options):
        self._log(home).parent.mkdir(parents=True, exist_ok=True)

    def logs(self, home):
        return newest_last(self._log(home).parent.glob("*.jsonl"))

    def _log(self, home):
        return home / ".local/share/ctxgauge" / self._folder / f"{self.name}.jsonl"


SDK = "opentelemetry-sdk"
FRAMEWORKS = (
    Framework("litellm", "litellm", folder="requests"),
    Framework("autogen", "autogen-agentchat", "autogen-ext[openai]", folder="requests"),
    Framework("openai-agents", "openai-agents", SDK, "opentelemetry-instrumentation-openai-agents"),
    Framework("pydantic-ai", "pydantic-ai-slim[openai]", SDK),
    Framework("langchain", "langchain", "langchain-openai", SDK, "opentelemetry-instrumentation-langchain"),
    Framework("llamaindex", "llama-index-core", "llama-index-llms-openai-like", SDK,
              "openinference-instrumentation-llama-index"),
    Framework("semantic-kernel", "semantic-kernel", SDK),
    Framework("strands", "strands-agents[openai]", SDK),
)  # fmt: skip
