"""What is different in a client that comes from PyPI."""

from clients.client import Client
from rig import venv


class PyPI(Client):
    """A client from PyPI. Its version is that of the first of its packages."""

    packages = ()
    # The interpreter of its environment.
    python = "python3.12"

    def install(self):
        return venv.install(self.name, self.packages, self.python)

    def program(self):
        return venv.program(self.name, self.command)

    def version(self):
        return venv.version(self.name, self.packages[0], self.python)
