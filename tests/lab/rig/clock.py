"""A clock that runs faster, for a client that does something after an hour: by libfaketime."""

import sys
import time
from datetime import UTC, datetime
from pathlib import Path

LIBRARIES = ["/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"]


class Clock:
    """A clock that runs faster from now on."""

    def __init__(self, factor):
        self.factor, self._library = factor, _library()
        self._began, self._steady = time.time(), time.monotonic()

    def now(self):
        return self._began + (time.monotonic() - self._steady) * self.factor

    def sleep(self, seconds):
        """Sleeps for some seconds of this clock."""
        time.sleep(seconds / self.factor)

    def running(self):
        """Returns the variables with which a process has this clock."""
        return self._variables(f" x{self.factor}")

    def standing(self):
        """Returns the variables with which a process has the present time of this clock, and no other."""
        return self._variables("")

    def _variables(self, more):
        at = datetime.fromtimestamp(self.now(), UTC).strftime("%Y-%m-%d %H:%M:%S")
        at = f"@{at}{more}" if more else at
        return {"LD_PRELOAD": self._library, "FAKETIME": at, "TZ": "UTC", "FAKETIME_NO_CACHE": "1"}


def _library():
    found = next((path for path in LIBRARIES if Path(path).exists()), None)
    if not found:
        sys.exit("libfaketime is not installed")
    return found
