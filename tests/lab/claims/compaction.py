"""What is shown after a compaction, beside the first prompt after it."""

import re

from claims.claim import ROUNDING, Seen, claims_of, same, settled
from claims.faces import answer_of_server, shown_by_line, shown_by_status, tokens_of, with_faces
from rig.plan import load
from rig.terminal import wait

CLAIMS = []
claim = claims_of("hooks.md", CLAIMS)

SAID = re.compile(r"compacted(?: \((\w+)\))?: from ~?([\d.]+[kM]?) to ~?([\d.]+[kM]?)")
# How far an estimate of a context may be from the truth: what the next prompt brings is not in it yet.
NEAR = 0.05


def sayings(run):
    """Returns what hooks said of compactions: the cause, and the sizes before and after."""
    outputs = [call.output for call in run.calls("hook")]
    return [
        (found.group(1), tokens_of(found.group(2)), tokens_of(found.group(3)))
        for output in outputs
        for found in SAID.finditer(output)
    ]


@claim("claude", "codex", "qwen", "gemini")
def asked_for(client, binary):
    """The user asks for a compaction: it waits for the next prompt, and all faces show the same until then."""
    plan = load("compact", client)
    with with_faces(client, binary, plan.options) as run:
        run.open()
        before = run.ask("Read three pieces.", [*plan.turns[0].steps[:3], {"say": "Read."}]).after
        run.enter(client.compact)
        wait(lambda: run.provider.of(kind="compact"), 60, "a request for a summary")
        report = settled(lambda: run.report()["context"], lambda it: it["known"] == 0, 30)
        shown = {"report": report["used"], "server": answer_of_server(run)["used"]}
        if client.has_line:
            is_new = lambda used: used is not None and abs(used - report["used"]) <= ROUNDING
            shown["line"] = settled(lambda: shown_by_line(run), is_new)
        shown["status"] = shown_by_status(run)
        after = run.ask("Once more.", [{"say": "Yes."}]).prompt
        yield _alike("after a compaction all show one size", shown)
        yield same("that size is near the first prompt after it", report["used"], after, int(after * NEAR))
        said = settled(lambda: sayings(run), bool)
        yield Seen("what a compaction did is said once", str(said), len(said) == 1)
        for _, was, now in said:
            yield same("the size before it is the truth", was, before, ROUNDING)
            yield same("the size after it is near the first prompt", now, after, int(after * NEAR))


@claim("claude", "codex", "qwen", "gemini")
def by_itself(client, binary):
    """The client compacts in the middle of a turn, and goes on."""
    plan = load("compact", client)
    with with_faces(client, binary, plan.options) as run:
        run.open()
        for turn in plan.turns:
            last = run.ask(turn.prompt, turn.steps)
        # What happens in a turn is said at the next prompt.
        for prompt in ("Once more.", "And again."):
            run.ask(prompt, [{"say": "Yes."}])
        truth = _compactions(run)
        said = settled(lambda: sayings(run), lambda it: len(it) >= len(truth))
        yield Seen("each compaction is said", f"{len(said)} of {len(truth)}", bool(truth) and len(said) == len(truth))
        for (cause, _, now), after in zip(said, truth):
            yield Seen("its cause is auto", str(cause), cause == "auto")
            yield same("the size after it is near the first prompt", now, after, int(after * NEAR))
        after = run.provider.of()[-1].after
        used = settled(lambda: run.report()["context"]["used"], lambda it: it == after)
        yield same("the report ends with the truth", used, after)


def _compactions(run):
    """Returns the first prompt after each compaction. One that came to nothing is followed by a larger one."""
    found, before, is_asked = [], 0, False
    for request in run.provider.requests:
        if request.kind == "main":
            if is_asked and request.prompt < before:
                found.append(request.prompt)
            before, is_asked = request.after, False
        is_asked |= request.kind == "compact"
    return found


def _alike(says, shown):
    sizes = list(shown.values())
    right = None not in sizes and max(sizes) - min(sizes) <= ROUNDING
    return Seen(says, ", ".join(f"{name} {size}" for name, size in shown.items()), right)
