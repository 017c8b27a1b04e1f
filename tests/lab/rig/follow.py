"""ctxgauge, which follows the sessions of a run while it goes on.

Some logs have the numbers of a request only until the next one, or until the turn ends, and some are rewritten or have their
numbers in another file: what was read at a moment cannot be read again afterwards.
"""

import json
import threading
import time

# The folder of a run that has what the followers wrote.
FOLLOWED = "followed"
# The least seconds after which a follower has read what was written, and the most until it has begun.
TO_READ, TO_BEGIN = 1.0, 30.0


class Followers:
    """A process for each session. Each writes a line for each change, with the report, into a file with the session's id."""

    def __init__(self, gauge, folder):
        self._gauge, self._folder = gauge, folder
        self._processes, self._lock = {}, threading.Lock()
        folder.mkdir()

    def keep(self):
        """Follows the sessions that are new, and waits until all have read what there is."""
        with self._lock:
            began = time.monotonic()
            for row in self._gauge.sessions():
                if row["id"] not in self._processes:
                    argv = ("follow", row["path"], "--texts", "--reports", "--every", "0s")
                    self._processes[row["id"]] = self._gauge.start(*argv, to=file_of(self._folder, row["id"]))
            # Where other programs run, a list takes longer, and so does all else.
            listed = time.monotonic()
            while not self._have_begun() and time.monotonic() < listed + TO_BEGIN:
                time.sleep(0.1)
            time.sleep(max(TO_READ, 2 * (listed - began)))

    def _have_begun(self):
        return all(file_of(self._folder, session).stat().st_size for session in self._processes)

    def close(self):
        self.keep()
        for process in self._processes.values():
            process.terminate()
            process.wait()


def reports(folder, session):
    """Returns the reports of a session, the oldest first; none where it was not followed.

    Each has the calls that its log has lost, too, as they were shown last.
    """
    file = file_of(folder, session)
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    found, calls = [], []
    for line in lines:
        state = json.loads(line) if line.endswith("\n") else {}
        if state.get("id") == session and (report := state.get("report")):
            calls = _lost(calls, report["calls"]) + report["calls"]
            found.append(report | {"calls": calls})
    return found


def _lost(before, calls):
    """Returns those of the calls before that are older than all that there are now."""
    if not calls:
        return before
    first = min((call["at"] for call in calls if call["at"]), default="")
    return [call for call in before if call["at"] and call["at"] < first]


def file_of(folder, session):
    return folder / f"{session}.jsonl"
