"""The provider itself: an HTTP server that reads a request, takes the next step, answers, and writes the truth."""

import gzip
import hashlib
import json
import math
import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import zstandard

from provider import faults
from provider.apis import anthropic, api_of, gemini, responses
from provider.kinds import kind_of, summary_for
from provider.prompt import Answer, Part
from provider.steps import TAG_OF_ONE, Steps, calls_of, tag_of

# A cache of prompts holds whole blocks.
CACHE_BLOCK = 64


@dataclass
class Request:
    """What was in a request, and what was answered: the truth."""

    number: int
    at: float
    api: str
    model: str
    kind: str
    tag: str
    prompt: int
    cached: int
    output: int
    ends_turn: bool
    parts: list[Part]
    # The turn of the plan, from 0.
    turn: int = 0
    # What went wrong, and what became of the usage: see `provider/faults.py`.
    fault: dict | None = None
    usage: str | None = None
    # The results that were left out of the prompt, and their tokens.
    cleared: tuple = (0, 0)

    @property
    def after(self):
        """The context after the answer: what the next prompt begins with."""
        return self.prompt + self.output

    @property
    def is_reported(self):
        """Returns whether the client got the whole answer and its usage."""
        return not self.fault and not self.usage


class Provider:
    """A provider that runs in a thread of this process, on a free port of loopback.

    `thinking` are the tokens of reasoning in each answer, `pace` the seconds before it, `clock` how many times faster the
    client's clock goes, `times` how many tokens are counted for each. `truth` is a file that gets a line for each request;
    `requests` has the same. `bodies` is a folder that gets each request as it came. `turn` is the turn of the plan that
    goes on, and `on_request` is called before a request is answered.
    """

    def __init__(self, truth=None, thinking=0, pace=0.0, clock=1.0, bodies=None, times=1):
        self.steps = Steps()
        self.requests = []
        self.thinking = thinking
        self.pace = pace
        self.turn = 0
        self.on_request = lambda: None
        self._clock = clock
        self._times = times
        self._truth = truth
        self._bodies = bodies
        self._prompts = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def expect(self, steps, tag=TAG_OF_ONE):
        """Sets what the model does in the next turn of the session with this tag in its prompts."""
        self.steps.expect(steps, tag)

    def of(self, tag=TAG_OF_ONE, kind="main"):
        """Returns the requests of a session."""
        return [request for request in self.requests if request.kind == kind and request.tag == tag]

    def read(self, api, body, path):
        """Reads a request, and counts it."""
        return api.read(body, path).counted(self._times)

    def answer(self, api, prompt, body=None):
        """Decides on an answer and keeps the request. Returns the answer and the request."""
        self.on_request()
        kind, tag = kind_of(prompt, self.steps.planned()), tag_of(prompt, api.INHERITS)
        step = {"say": summary_for(api.NAME, prompt)} if kind == "compact" else {"say": "ok"}
        if kind == "main":
            step = self.steps.next(tag)
        calls = calls_of(step, prompt)
        text = "" if calls and "say" in step else step.get("say") or step.get("with") or ""
        thinking = step.get("think", self.thinking) if kind == "main" else 0
        with self._lock:
            cached = self._cached(prompt)
            answer = Answer(
                prompt.model, text, calls, prompt.tokens, cached, thinking, prompt.cache_life, prompt.cleared,
                self._times,
            )  # fmt: skip
            request = Request(
                len(self.requests) + 1, time.time(), api.NAME, prompt.model, kind, tag, prompt.tokens, cached,
                answer.output, not calls, prompt.parts, self.turn, step.get("fault"), step.get("usage"),
                prompt.cleared,
            )  # fmt: skip
            self.requests.append(request)
            self._keep(request, body)
        time.sleep(self.pace)
        return answer, request

    def _keep(self, request, body):
        if self._truth:
            with open(self._truth, "a") as file:
                file.write(json.dumps(_line(request)) + "\n")
        if self._bodies:
            self._bodies.mkdir(exist_ok=True)
            (self._bodies / f"{request.number:04}.json").write_text(json.dumps(body, ensure_ascii=False))

    def _cached(self, prompt):
        """Returns the tokens of the longest beginning that an earlier prompt had too."""
        marks = [hashlib.sha1(f"{part.role} {part.tokens} {part.text}".encode()).digest() for part in prompt.parts]
        longest, now = 0, time.monotonic()
        for earlier, until in self._prompts[-40:]:
            if until < now:
                continue
            same = 0
            for mark, other, part in zip(marks, earlier, prompt.parts):
                if mark != other:
                    break
                same += part.tokens
            longest = max(longest, same)
        life = math.inf if prompt.cache_life is None else prompt.cache_life / self._clock
        self._prompts.append((marks, now + life))
        return max(0, min(longest, prompt.tokens - 1)) // CACHE_BLOCK * CACHE_BLOCK


def _line(request):
    parts = [
        {"head": part.text[:80], **{key: value for key, value in vars(part).items() if key != "text"}}
        for part in request.parts
    ]
    return vars(request) | {"parts": parts}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.split("?")[0].endswith("/models"):
            return self._send({"object": "list", "data": [], "models": [], "has_more": False})
        return self._send({})

    def do_POST(self):
        path, body = self.path.split("?")[0], self._body()
        if body is None:
            return self._send({})
        if path.endswith("/count_tokens"):
            return self._send({"input_tokens": self.provider.read(anthropic, body, path).tokens})
        if path.endswith(":countTokens"):
            asked = body.get("generateContentRequest") or body
            return self._send({"totalTokens": self.provider.read(gemini, asked, path).tokens})
        api = api_of(path)
        if api is None:
            return self._send({})
        prompt = self.provider.read(api, body, path)
        answer, request = self.provider.answer(api, prompt, body)
        try:
            return self._answer(api, prompt, answer, request, body)
        except OSError:
            return None  # The client went away, or the stream was cut.

    def _answer(self, api, prompt, answer, request, body):
        fault, usage = request.fault or {}, request.usage
        if status := fault.get("status"):
            return self._send(faults.error(api.NAME, status), status)
        if self.path.split("?")[0].endswith("/compact"):
            return self._send(responses.compacted(prompt, answer.cached))
        if prompt.stream:
            events = api.stream(answer, body)
            return self._stream(events, usage, faults.CUT_BEFORE[api.NAME] if fault else 0, fault.get("hang", 0))
        if fault:
            return self._cut(fault.get("hang", 0))
        whole = api.whole(answer)
        return self._send(faults.without_usage(whole, usage) if usage else whole)

    def _body(self):
        length = self.headers.get("content-length")
        raw = self.rfile.read(int(length)) if length else self._chunks()
        encoding = self.headers.get("content-encoding")
        if encoding == "zstd":
            raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        elif encoding == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw)
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _chunks(self):
        raw = b""
        while length := int(self.rfile.readline().strip() or b"0", 16):
            raw += self.rfile.read(length)
            self.rfile.readline()
        return raw

    def _send(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events, usage=None, cut_before=0, hang=0):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for number, (name, data) in enumerate(events, 1):
            if number == cut_before:
                self._cut(hang)
            if usage:
                data = faults.without_usage(data, usage)
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.wfile.flush()

    def _cut(self, hang):
        """Stops for some seconds, and cuts the connection."""
        time.sleep(hang)
        self.connection.shutdown(socket.SHUT_RDWR)
        raise BrokenPipeError("cut by plan")
