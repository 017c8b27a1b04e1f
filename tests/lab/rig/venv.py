"""Clients from PyPI: each has a virtual environment of its own, below the lab's folder."""

import json
import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

from rig.places import LAB, run


def program(folder, name):
    """Returns the path of a program that `install` has put into a client's environment."""
    return LAB / "venv" / folder / "bin" / name


def install(folder, packages, python):
    """Installs the newest versions of packages. Returns the name and the version of the first one."""
    at = LAB / "venv" / folder
    if not program(folder, "python").exists():
        run([interpreter(python), "-m", "venv", at])
    pip = [program(folder, "python"), "-m", "pip", "install", "--quiet"]
    run([*pip, "--upgrade", *packages])
    name, older = packages[0], version(folder, packages[0], python)
    found = json.loads(run([*pip, "--dry-run", "--ignore-installed", "--no-deps", "--report", "-", name]))
    newest = found["install"][0]["metadata"]["version"]
    if newest == older:
        return f"{name}=={newest}"
    # pip takes an older one without a word where the newest asks for what the registry does not have.
    run([*pip, "--no-deps", f"{name}=={newest}"])
    required = found["install"][0]["metadata"].get("requires_dist", [])
    others = [other for one in required if (other := _other(pip, one))]
    return f"{name}=={newest}, with other versions of {', '.join(others)}"


def _other(pip, required):
    """Installs what a package asks for, or else the newest version of it. Returns its name if that is another one."""
    try:
        run([*pip, "--no-deps", required])
    except RuntimeError:
        name = re.match(r"[\w.-]+", required).group()
        run([*pip, "--no-deps", "--upgrade", name])
        return name


def modules(folder, python):
    """Returns the folder of the modules in a client's environment."""
    return LAB / "venv" / folder / "lib" / python / "site-packages"


def version(folder, package, python):
    """Returns the version of a package in a client's environment, or None."""
    found = metadata.distributions(name=package.split("[")[0], path=[str(modules(folder, python))])
    return next((one.version for one in found), None)


def interpreter(name):
    """Returns an interpreter with this name, such as python3.12. Raises RuntimeError where there is none that runs."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    # pyenv has a program of each name on the PATH, and it fails where that version is not chosen.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders += sorted(pyenv.glob(f"versions/{name.removeprefix('python')}*/bin"))
    for found in filter(None, (shutil.which(name, path=folder) for folder in folders)):
        if subprocess.run([found, "--version"], capture_output=True, timeout=60).returncode == 0:
            return found
    raise RuntimeError(f"no {name} on the PATH: the client needs it")
