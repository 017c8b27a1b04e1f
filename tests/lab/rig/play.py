"""Plays a plan with a client, and leaves a record of it in the run's folder: `meta.json` beside `truth.jsonl`."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from clients.client import LAST, Resume
from provider.steps import TAG_OF_ONE
from rig import project
from rig.follow import FOLLOWED, Followers
from rig.gauge import Gauge
from rig.run import TURN_SECONDS, Run
from rig.terminal import wait

DATABASES = (".db", ".sqlite")
# A command of the client has no request at its end: it has had its time when so long nothing was sent.
QUIET_SECONDS = 4.0


def play(client, binary, plan):
    """Plays a plan. Returns the run's folder."""
    name = f"{plan.name}-{client.name}"
    with Run(client, binary, plan.options, name=name, bodies=client.name == "claude", **plan.provider) as run:
        player = _Terminal(run) if plan.terminal else _Processes(run)
        moments = _moments(run)
        run.provider.on_request = moments.keep
        done = []
        for number, turn in enumerate(plan.turns):
            done.append(_turn(run, player, number, turn))
            if done[-1]["failed"]:
                break
        moments.close()
        player.close()
        _write(run, plan, done)
        return run.at


def _turn(run, player, number, turn):
    if turn.project:
        project.furnish(run.work)
    if turn.server:
        run.add_store()
    run.provider.turn = number
    steps, subs = json.loads(json.dumps([turn.steps, turn.subs]).replace("{WORK}", str(run.work)))
    run.provider.expect(steps)
    for tag, steps in subs.items():
        run.provider.expect(steps, tag)
    began, at = time.monotonic(), time.time()
    # A command of the client has the name that `clients/client.py` gives it.
    typed = getattr(run.client, turn.command) if turn.command else f"{TAG_OF_ONE} {turn.prompt}"
    if turn.keys:
        typed = ""
    gave_up = player.play(typed, turn)
    if gave_up:
        print(f"{run.at.name}: {gave_up}", flush=True)
    seconds = round(time.monotonic() - began, 1)
    failed = None if turn.may_fail else gave_up
    return {"prompt": typed, "keys": bool(turn.keys), "at": at, "seconds": seconds, "gave_up": gave_up, "failed": failed}


def _write(run, plan, turns):
    meta = {
        "client": run.client.name,
        "agent": run.client.agent,
        "version": run.client.version(),
        "plan": plan.name,
        "turns": turns,
        "logs": [str(log.relative_to(run.at)) for log in run.client.logs(run.home)],
    }
    (run.at / "meta.json").write_text(json.dumps(meta, indent=1, ensure_ascii=False))


def _hangs(run, before):
    """Returns whether the provider lets one of the requests since `before` hang."""
    return any("hang" in (request.fault or {}) for request in run.provider.requests[before:])


class _Processes:
    """Each turn is a process that ends."""

    def __init__(self, run):
        self._run, self._logs, self._began = run, [], False

    def play(self, typed, turn):
        """Plays a turn. Returns what failed, or None."""
        run, before = self._run, len(self._run.provider.requests)
        process = run.start(typed, self._resume(turn), turn.options)
        self._began = True
        try:
            if turn.interrupted:
                wait(lambda: _hangs(run, before), TURN_SECONDS, "a request that hangs")
                time.sleep(1)
                os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=TURN_SECONDS)
        except (subprocess.TimeoutExpired, TimeoutError) as error:
            return f"{type(error).__name__}: {error}"[:300]
        finally:
            _end(process)
        self._logs += [log for log in run.client.logs(run.home) if log not in self._logs]
        if process.returncode and not turn.interrupted:
            return f"exit {process.returncode}: {(output + errors).strip()[-300:]}"
        return None

    def _resume(self, turn):
        if not self._began or turn.begins == "new":
            return None
        if turn.begins != "fork" and not self._run.client.resumes:
            return None
        session = None if turn.session is None else self._run.client.session_of(self._logs[turn.session])
        return Resume(session, fork=True) if turn.begins == "fork" else Resume(session) if session else LAST

    def close(self):
        pass


class _Terminal:
    """All turns are typed into one terminal."""

    def __init__(self, run):
        self._run = run
        run.open()

    def play(self, typed, turn):
        """Plays a turn. Returns what failed, or None."""
        run, before = self._run, len(self._run.provider.requests)
        own = len(run.provider.of())
        try:
            # Some ask a question after a command.
            if keys := run.client.questions(run.screen()):
                run.terminal.keys("one", *keys)
                run.ready()
            if turn.keys:
                run.press(turn.keys)
            else:
                run.enter(typed)
            if turn.interrupted:
                wait(lambda: _hangs(run, before), TURN_SECONDS, "a request that hangs")
                time.sleep(1)
                run.terminal.keys("one", *run.client.interrupt)
            elif not turn.command and not turn.keys:
                wait(lambda: run.ended(TAG_OF_ONE, own), TURN_SECONDS, f"the end of the turn: {typed}")
            elif turn.command == "compact":
                wait(lambda: _compacts(run, before), TURN_SECONDS, "a request for a summary")
            # A client writes its log a moment after an answer, and some ask for titles then.
            self._quiet()
        except TimeoutError as error:
            return str(error)
        return None

    def _quiet(self):
        provider, seen, since = self._run.provider, -1, time.monotonic()
        while time.monotonic() - since < QUIET_SECONDS:
            if len(provider.requests) != seen:
                seen, since = len(provider.requests), time.monotonic()
            time.sleep(0.2)

    def close(self):
        try:
            self._run.leave()
        except TimeoutError as error:
            print(error, flush=True)


def _compacts(run, before):
    return any(request.kind == "compact" for request in run.provider.requests[before:])


def _moments(run):
    """Returns what keeps the moments of a run that cannot be read from its logs afterwards."""
    if run.client.is_followed:
        return Followers(Gauge(run.binary, run.home, run.work), run.at / FOLLOWED)
    return _Moments(run)


class _Moments:
    """Keeps copies of the databases and of the files of JSON that a client writes, as they are when each request comes.

    What a log of lines was at a moment can be read from it afterwards; what these were cannot.
    """

    def __init__(self, run):
        self._run, self._kept, self._lock = run, 0, threading.Lock()

    def keep(self):
        with self._lock:
            self._keep()

    def close(self):
        self.keep()

    def _keep(self):
        for log in self._run.client.logs(self._run.home):
            if log.suffix == ".jsonl":
                continue
            folder = self._run.at / "moments"
            folder.mkdir(exist_ok=True)
            self._kept += 1
            for file in parts_of(log):
                to = folder / f"{self._kept:04}-{file.name}"
                copy(file, to) if log.suffix in DATABASES else shutil.copyfile(file, to)


def parts_of(log):
    """Returns the files that are one log. One of JSON may have others beside it, whose names begin as its own does."""
    if log.suffix in DATABASES:
        return [log]
    return sorted(log.parent.glob(log.name.split(".")[0] + ".*"))


def copy(database, to):
    """Copies a database that another process writes. One that is locked for too long is left out."""
    source = sqlite3.connect(f"{Path(database).as_uri()}?mode=ro", uri=True, timeout=2)
    try:
        source.execute("VACUUM INTO ?", (str(to),))
    except sqlite3.OperationalError:
        to.unlink(missing_ok=True)
    finally:
        source.close()


def _end(process):
    """Ends a process, and what it has started."""
    for wanted in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, wanted)
        except ProcessLookupError:
            return
        time.sleep(0.3)
    process.wait()
