"""The Nth write fails: `python tests/crash/faults.py`, started by itself under LD_PRELOAD.

ENOSPC and EROFS go on failing, as a full or remounted disk does; EIO strikes once. Prints figures as
JSON; exit code 1 when anything was not as it must be.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support"), str(HERE.parent.parent)]
ERRORS = {"ENOSPC": 1, "EIO": 0, "EROFS": 1}


def compiled(folder: Path) -> Path | None:
    """The shim; None where nothing compiles it."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    shim = folder / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(shim), str(HERE / "shim.c")]
    done = subprocess.run([*command, "-ldl"], check=False, capture_output=True)
    return shim if done.returncode == 0 else None


def faults(numbers: range) -> dict | None:
    """Run the rounds in a process under the shim; None where there is no compiler."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        shim = compiled(Path(folder))
        if shim is None:
            return None
        done = subprocess.run(
            [sys.executable, __file__, *map(str, (numbers.start, numbers.stop, numbers.step))],
            env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            check=False,
        )
        return json.loads(done.stdout)


class Rounds:
    """Every round begins with the same four documents and brings new versions of all and two more."""

    def __init__(self, folder: Path) -> None:
        import chromadb  # noqa: F401 - imported once, so that a fork has it
        import model
        import world as worlds

        self._model, self._worlds = model, worlds
        self._shim = ctypes.CDLL(None)
        self._folder = folder
        self.figures: Counter = Counter()
        self._first = {f"文件{n}.txt": 1 for n in range(4)}
        self._second = {f"文件{n}.txt": 2 for n in range(6)}
        self._base = self._filled()
        operation = worlds.put(self._copy(), self._second)
        self.writes = self._world.fork(self._faulty(operation, -1, 0, 0)).value[1]

    def _filled(self):
        world = self._worlds.World(self._folder / "base")
        world.data.mkdir(parents=True)
        ended = world.fork(self._worlds.put(world, self._first).run)
        self._model.require(ended.code == 0, ended)
        return world

    def _copy(self):
        self._world = self._worlds.World(self._folder / "now")
        shutil.rmtree(self._world.folder, ignore_errors=True)
        shutil.copytree(self._base.folder, self._world.folder)
        self._world.allowed = {source: {1} for source in self._first}
        return self._world

    def _faulty(self, operation, number, code, sticky):
        data = str(self._world.data).encode()

        def run():
            self._shim.fault_arm(data, ctypes.c_long(number), code, sticky)
            ended = operation.run()
            seen = self._shim.fault_seen()
            self._shim.fault_arm(b"", ctypes.c_long(-1), 0, 0)
            return (ended, seen)

        return run

    def round(self, number: int, name: str) -> None:
        world = self._copy()
        operation = self._worlds.put(world, self._second)
        code = getattr(errno, name)
        try:
            self._round(world, operation, number, name, code)
        except AssertionError as error:
            self.figures["violations"] += 1
            sys.stderr.write(f"{name} at write {number}: {error!r}"[:3000] + "\n")

    def _round(self, world, operation, number, name, code) -> None:
        require = self._model.require
        ended = world.fork(self._faulty(operation, number, code, ERRORS[name]))
        self.figures["faults"] += number <= self.writes
        require(ended.code == 0, "ended with", ended.code, ended.said)
        exit_code, _seen = ended.value
        require("Traceback" not in ended.said, ended.said)
        require(exit_code in {0, 1}, "exit code", exit_code)
        self.figures["said"] += exit_code == 1 or bool(ended.said.strip().startswith("Chroma"))
        world.allowed = {
            source: {self._first.get(source, 0), version}
            for source, version in self._second.items()
        }
        world.check()
        ended = world.fork(operation.run)
        require(ended.code == 0, "did not converge", ended)
        world.allowed = {source: {version} for source, version in self._second.items()}
        world.check(converged=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("start", 1), ("stop", 201), ("step", 1)):
        parser.add_argument(name, type=int, nargs="?", default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        rounds = Rounds(Path(folder))
        for number in range(options.start, options.stop, options.step):
            for name in ERRORS:
                rounds.round(number, name)
        figures = {"violations": 0, **rounds.figures, "writes": rounds.writes}
    sys.stdout.write(json.dumps(figures) + "\n")
    return 1 if figures["violations"] else 0


if __name__ == "__main__":
    if os.environ.get("LD_PRELOAD", "").endswith("shim.so"):
        sys.exit(main())
    numbers = [int(number) for number in sys.argv[1:]] or [1, 201, 1]
    told = faults(range(*numbers))
    sys.stdout.write(json.dumps(told) + "\n")
    sys.exit(1 if told and told["violations"] else 0)
