"""The lab's folder, outside of the repository: what is installed, and the runs."""

import os
import subprocess
import tempfile
from pathlib import Path

LAB = Path(os.environ.get("LAB") or Path(tempfile.gettempdir()) / "ctxgauge-lab")
PLANS = Path(__file__).resolve().parent.parent / "plans"

# Clients want a newer Node than many machines have: it is installed beside them.
NODE = "node@24"
NODE_FOLDER = LAB / "npm/node/node_modules/.bin"


def program(folder, name):
    """Returns the path of a client's program that `install` has put into its folder."""
    return LAB / "npm" / folder / "node_modules/.bin" / name


def search_path():
    """Returns the PATH of clients: our Node goes first."""
    return f"{NODE_FOLDER}:{os.environ['PATH']}"


def new_run(name):
    """Makes the folder of a run, which no run had before."""
    runs = LAB / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=runs))


def install(folder, package):
    """Installs the newest version of a package from npm's registry. Returns its name and version."""
    at = LAB / "npm" / folder
    at.mkdir(parents=True, exist_ok=True)
    (at / "package.json").write_text('{"private": true}')
    # npm passes over versions that want a newer Node than its own, unless the version is named.
    if "@" not in package[1:]:
        package += "@" + run(["npm", "view", package, "version"]).strip()
    run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package], at)
    return package


def run(argv, at=None):
    """Runs a command that installs something. Returns its output. Raises RuntimeError with its error where it fails."""
    argv = [str(one) for one in argv]
    # npm runs with our Node too: with an older one it takes a placeholder of some packages.
    environment = os.environ | {"PATH": search_path()}
    done = subprocess.run(argv, cwd=at, env=environment, capture_output=True, text=True, timeout=1200)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()[-300:]}")
    return done.stdout
