"""The packages that contain catalogues, and how each is read.

A source has a `mark` for the rows of the table, and `read` returns its entries by provider and model. A provider has the name
that models.dev has for it.
"""

import json
import re
import sys
import zipfile

from catalogues import literal
from catalogues.entry import Entry, factor, prices
from clients.claude import Claude
from clients.codex import Codex
from clients.opencode import OpenCode
from clients.pi import Pi
from rig.places import LAB, run

# Names of providers in other catalogues, and in logs and settings of agents.
NAMES = {
    "alibaba": ("dashscope", "qwen"),
    "amazon-bedrock": ("aws_bedrock", "bedrock", "bedrock_converse"),
    "azure": ("azure-openai", "azure-openai-responses", "azure_ai", "azure_openai"),
    "fireworks-ai": ("fireworks", "fireworks_ai"),
    "github-copilot": ("copilot", "copilot_chat", "github_copilot"),
    "google": ("gemini",),
    "google-vertex": ("gcp_vertex_ai", "google-vertex-anthropic", "vertex", "vertex_ai", "vertexai"),
    "kimi-coding": ("kimi-code-plan-cn", "kimi-code-plan-global", "kimi-for-coding"),
    "moonshotai": ("moonshot",),
    "openai": ("openai-native",),
    "openai-codex": ("chatgpt", "chatgpt_codex", "codex", "openai-subscribed"),
    "opencode": ("opencode-zen", "zen"),
    "openrouter": ("open_router",),
    "togetherai": ("together", "together_ai"),
    "xai": ("x_ai",),
    "zai": ("z-ai",),
}
OTHERS = {other: name for name, others in NAMES.items() for other in others}


class Listed:
    """A list in a package from npm's registry. `folder` is the one of the lab's that the client is installed in."""

    client = None
    package = ""

    def __init__(self, folder=None):
        self.at = LAB / "npm" / (folder or self.client.agent) / "node_modules" / (self.package or self.client.package)

    def install(self):
        self.client.install()

    def version(self):
        return json.loads((self.at / "package.json").read_text())["version"]


class PiAi(Listed):
    """pi's list, which is made from models.dev and by hand."""

    mark, title = "p", "pi-ai"
    client, package = Pi(), "@earendil-works/pi-ai"

    def read(self):
        found = {}
        for path in sorted((self.at / "dist/providers/data").glob("[!.]*.json")):
            for models in json.loads(path.read_text()).values():
                for model in models.values():
                    if model.get("type", "chat") == "chat":
                        found[provider(path.stem), model["id"]] = self._entry(model)
        return found

    def _entry(self, model):
        cost, window, output = model.get("cost", {}), _tokens(model["contextWindow"]), _tokens(model["maxTokens"])
        # It has 0 for prices that it does not know.
        if not cost.get("input") and "free" not in model["id"]:
            cost = {}
        long = {tier["inputTokensAbove"]: self._prices(tier) for tier in cost.get("tiers", ())}
        return Entry(window, None, output, self._prices(cost), long, client="pi")

    def _prices(self, cost):
        return prices(cost.get("input"), cost.get("output"), cost.get("cacheRead"), cost.get("cacheWrite"))


class ModelsDev(Listed):
    """The copy of models.dev that OpenCode contains."""

    mark, title = "m", "models.dev in opencode-ai"
    client = OpenCode()
    entry = re.compile(rb'\{id:"([^"]+)",env:\[')

    def read(self):
        program = next(self.at.parent.glob("opencode-*/bin/opencode")).read_bytes()
        found = {}
        starts = [hit.start() for hit in self.entry.finditer(program)]
        for start, end in zip(starts, [*starts[1:], starts[-1] + 3_000_000], strict=True):
            listed = literal.read(program[start : end + 1].decode(errors="replace"), 0)
            for model in listed["models"].values():
                found[provider(listed["id"]), model["id"]] = self._entry(model)
        return found

    def _entry(self, model):
        limit, cost = model["limit"], model.get("cost", {})
        usual = self._prices(cost)
        long = {tier["tier"]["size"]: self._prices(tier) for tier in cost.get("tiers", ())}
        modes = {}
        for name, mode in (model.get("experimental") or {}).get("modes", {}).items():
            name = mode.get("provider", {}).get("body", {}).get("service_tier", name)
            modes[name] = factor(usual, self._prices(mode.get("cost", {})))
        return Entry(
            _tokens(limit.get("context")),
            _tokens(limit.get("input")),
            _tokens(limit.get("output")),
            usual,
            long,
            {name: by for name, by in modes.items() if by},
            date=model.get("release_date", ""),
            why_not=self._why_not(model),
        )

    def _prices(self, cost):
        return prices(cost.get("input"), cost.get("output"), cost.get("cache_read"), cost.get("cache_write"))

    def _why_not(self, model):
        if "text" not in model["modalities"]["output"]:
            return "writes no text"
        return "" if model["tool_call"] else "calls no tools"


class LiteLLM:
    """LiteLLM's list of prices."""

    mark, title = "l", "litellm"
    tier = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
    modes = {"priority": "priority", "flex": "flex", "batches": "batch"}

    def install(self):
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", LAB / "pypi", "litellm"])

    def read(self):
        with zipfile.ZipFile(self._wheel()) as wheel:
            listed = json.loads(wheel.read("litellm/model_prices_and_context_window_backup.json"))
        found = {}
        for name, model in listed.items():
            group = re.sub(r"^vertex_ai-.*", "vertex_ai", model.get("litellm_provider") or "")
            parts = name.split("/")
            # Others are prices of a region, or of a picture of one size; those of `ft:` are of nobody's model.
            if name.startswith("ft:"):
                continue
            if len(parts) == 1 or (parts[0] == group and (len(parts) == 2 or group == "openrouter")):
                model_id = "/".join(parts[1:]) or name
                found.setdefault((provider(group), model_id), self._entry(model))
        return found

    def version(self):
        return self._wheel().name.split("-")[1]

    def _wheel(self):
        wheels = (LAB / "pypi").glob("litellm-*.whl")
        return max(wheels, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)[:3]])

    def _entry(self, model):
        usual = self._prices(model, "")
        tiers = [int(hit[1]) for hit in map(self.tier.fullmatch, model) if hit]
        modes = {name: factor(usual, self._prices(model, f"_{key}")) for key, name in self.modes.items()}
        modes["fast"] = (model.get("provider_specific_entry") or {}).get("fast")
        return Entry(
            _tokens(model.get("max_input_tokens")),
            output=_tokens(model.get("max_output_tokens")),
            prices=usual,
            long={above * 1000: self._prices(model, f"_above_{above}k_tokens") for above in sorted(tiers)},
            modes={name: by for name, by in modes.items() if by},
            ends=model.get("deprecation_date") or "",
            why_not=self._why_not(model),
        )

    def _prices(self, model, suffix):
        names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
        write = "cache_creation_input_token_cost"
        keys = [name + suffix for name in (*names, write, f"{write}_above_1hr")]
        return prices(*(model.get(key) for key in keys), per=1e6)

    def _why_not(self, model):
        if model.get("mode") not in ("chat", "responses"):
            return "writes no text"
        return "" if model.get("supports_function_calling") else "calls no tools"


class CodexList(Listed):
    """Codex's own list, without prices."""

    mark, title = "c", "codex"
    client = Codex()
    begin = b'{\n  "models": ['

    def read(self):
        program = next(self.at.parent.glob("codex-*/vendor/*/bin/codex")).read_bytes()
        text = program[program.index(self.begin) :][:4_000_000].decode(errors="replace")
        listed, _ = json.JSONDecoder().raw_decode(text)
        entries = {}
        for model in listed["models"]:
            entries["openai-codex", model["slug"]] = Entry(model["context_window"])
        return entries


class ClaudeList(Listed):
    """Claude Code's own list."""

    mark, title = "a", "claude-code"
    client = Claude()

    def read(self):
        program = next(self.at.parent.glob("claude-code-*/claude")).read_bytes()
        models = _read(program, rb'\[\{id:"claude-[^"]*",family:')
        tiers = _read(program, rb"\{tier_\w+:\{input:")
        return {("anthropic", model["id"]): self._entry(model, tiers[model["pricing"]]) for model in models}

    def _entry(self, model, tier):
        window, output = model.get("context", {}).get("window"), model["max_output_tokens"]["upper"]
        long = tier.get("long_prompt")
        tiers = {int(long["above_prompt_tokens"]): self._prices(long)} if long else {}
        return Entry(_tokens(window), None, output, self._prices(tier), tiers, client="claude-code")

    def _prices(self, tier):
        return prices(*(tier[key] for key in ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")))


# What an earlier one says of prices goes before what a later one says: OpenCode's copy of models.dev is the oldest.
SOURCES = (ClaudeList(), CodexList(), PiAi(), LiteLLM(), ModelsDev())


def provider(name):
    """Returns the name of a provider in the table."""
    return OTHERS.get(name, name)


def _read(program, pattern):
    """Returns the literal that begins as this pattern in a program."""
    begin = re.search(pattern, program).start()
    return literal.read(program[begin : begin + 100_000].decode(errors="replace"), 0)


def _tokens(number):
    """Returns a number of tokens; lists have 0 or a text for one that they do not know."""
    return int(number) if isinstance(number, int | float) and number > 0 else None
