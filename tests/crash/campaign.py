"""Kill everywhere, damage everything, compare with the model: `python tests/crash/campaign.py`.

Prints its figures as JSON; with `--readme` writes them into both READMEs. Exit code 1 when the
model was contradicted once.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support"), str(HERE.parent.parent)]

import chromadb  # noqa: E402, F401 - imported once, so that a fork has it
import model  # noqa: E402
import world as worlds  # noqa: E402
from damage import damages  # noqa: E402
from faults import faults  # noqa: E402
from report import write_readmes  # noqa: E402
from soak import soak  # noqa: E402

from kb import failpoints  # noqa: E402

SOURCES = [f"文件{n}.txt" for n in range(6)]
KINDS = ("ingest", "remove", "rebuild-vectors", "doctor --fix", "backup", "restore")


class Kills:
    """Rounds of: begin an operation, kill it, compare, let it run again, compare."""

    def __init__(self, folder: Path, seed: int, *, short: bool) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self.figures: Counter = Counter()
        self.places: Counter = Counter()
        self.slowest = 0.0
        self.typical: dict[str, float] = {}
        self.traced: dict[str, Counter] = {}
        self._number = 0
        self._thorough = 0.4 if short else 0.7

    # -- worlds --------------------------------------------------------------------------

    def new_world(self, *, filled: bool = True) -> worlds.World:
        self._number += 1
        shutil.rmtree(self._folder / f"w{self._number - 1}", ignore_errors=True)
        world = worlds.World(self._folder / f"w{self._number}")
        world.data.mkdir(parents=True)
        if filled:
            operation = worlds.put(world, dict.fromkeys(SOURCES[:4], 1))
            self._finish(world, operation, world.fork(operation.run))
            self.finish(world, worlds.backup(world))
        return world

    def operation(self, world: worlds.World, kind: str) -> worlds.Operation:
        state, pick = world.state, self._random
        present = [source for source, version in state.items() if version]
        if kind == "ingest" or not present:
            self._highest = max([0, *state.values(), getattr(self, "_highest", 0)]) + 1
            chosen = set(pick.sample(SOURCES, 3))
            versions = {s: self._highest if s in chosen else state.get(s, 0) for s in SOURCES}
            return worlds.put(world, {s: v for s, v in versions.items() if v})
        if kind == "remove":
            return worlds.remove(world, pick.choice(present))
        if kind == "restore":
            return worlds.restore(world)
        makers = {
            "rebuild-vectors": worlds.rebuild_vectors,
            "doctor --fix": worlds.fix,
            "backup": worlds.backup,
        }
        return makers[kind](world)

    # -- rounds --------------------------------------------------------------------------

    def trace(self) -> None:
        """By which places each operation comes, how often, and how long it takes."""
        world = self.new_world(filled=False)
        first = worlds.put(world, dict.fromkeys(SOURCES[:4], 1))
        self._trace(world, first, "first ingest")
        self.finish(world, worlds.backup(world))
        for kind in (*KINDS[:2], "ingest", "backup", "restore", *KINDS[2:4]):
            self._trace(world, self.operation(world, kind), kind)
        self.world = self.new_world()

    def _trace(self, world, operation, kind) -> None:
        started = time.monotonic()
        ended = world.fork(operation.run, trace=True)
        self.typical[kind] = time.monotonic() - started
        model.require(ended.code == 0 and ended.value[0] == 0, kind, ended)
        self.traced[kind] = Counter(ended.value[1])
        self._finish(world, operation, ended)

    def at_every_place(self, *, each: int) -> None:
        """Kill each operation at each place it comes by, at the first and at random times."""
        for kind, places in self.traced.items():
            for place, count in places.items():
                more = each - 1 if kind != "first ingest" else 0
                for number in [1, *self._random.choices(range(1, count + 1), k=more)]:
                    self.round(kind, place=f"{place}:{number}")

    def at_each_place_once(self) -> None:
        """Every named place once, by one of the operations that come by it."""
        for place in failpoints.NAMES:
            kinds = [kind for kind, places in self.traced.items() if places[place]]
            if kinds:
                kind = self._random.choice(kinds)
                count = self.traced[kind][place]
                self.round(kind, place=f"{place}:{self._random.randint(1, count)}")

    def at_random(self, kills: int) -> None:
        while self.figures["kills"] < kills:
            kind = self._random.choice(["ingest", *KINDS, "first ingest"])
            after = self._random.uniform(0.0, 1.05 * self.typical[kind])
            self.round(kind, after=max(0.002, after))

    def round(self, kind: str, *, place: str = "", after: float | None = None) -> None:
        if kind == "first ingest" or self.figures["rounds"] % 25 == 24:
            self.world = self.new_world(filled=kind != "first ingest")
        world = self.world
        operation = (
            worlds.put(world, dict.fromkeys(SOURCES[:4], 1))
            if kind == "first ingest"
            else self.operation(world, kind)
        )
        try:
            self._round(world, operation, place, after)
        except (model.Violation, AssertionError) as error:
            self.figures["violations"] += 1
            told = {"kind": kind, "place": place, "after": after, "error": repr(error)[:3000]}
            sys.stderr.write(worlds.dump(told) + "\n")
            shutil.copytree(world.folder, self._folder / f"bad{self.figures['rounds']}")
            self.world = self.new_world()
        if kind == "first ingest":
            self.world = self.new_world()

    def _round(self, world, operation, place, after) -> None:
        before = dict(world.state)
        world.allowed = {
            source: {before.get(source, 0), operation.after.get(source, 0)}
            for source in {*before, *operation.after}
        }
        real = bool(operation.command) and not world.embedder and self._random.random() < 0.06
        if real:
            ended = world.command(
                *operation.command, place=place, after=after and after + self._random.uniform(0, 3)
            )
        else:
            ended = world.fork(operation.run, place=place, after=after)
        self.figures["rounds"] += 1
        killed = ended.code == -9
        model.require(killed or ended.code == 0, "the operation failed", ended)
        self.figures["kills"] += killed
        self.figures["kills of the real command line"] += killed and real
        if killed and place:
            self.places[place.partition(":")[0]] += 1
        if operation.mends and not killed:
            world.keywords = True
        self._compare(world, operation, before)
        again = operation.name in {"rebuild-vectors", "doctor --fix", "backup", "restore"}
        if again or not killed or self._random.random() < self._thorough:
            self.finish(world, operation, killed_again=self._random.random() < 0.2)

    def _compare(self, world, operation, before) -> None:
        if operation.mends and not world.keywords:
            world.keywords = _repaired(world)
        if not world.project.exists():
            world.allowed = {source: {model.ABSENT} for source in world.allowed}
            return
        self.slowest = max(self.slowest, world.check())
        self.figures["comparisons"] += 1
        if operation.name == "backup":
            model.backup_is_whole(world.folder / "backup.sqlite3")
        if not operation.between:
            seen = {s: v for s, v in world.state.items() if v}
            whole = [{s: v for s, v in x.items() if v} for x in (before, operation.after)]
            model.require(seen in whole, "half restored", seen)

    def finish(self, world, operation, *, killed_again: bool = False) -> None:
        """Let the operation run to its end, killed once more at first or not."""
        if killed_again:
            ended = world.fork(operation.run, after=self._random.uniform(0.0, 0.3))
            self.figures["kills"] += ended.code == -9
        self._finish(world, operation, world.fork(operation.run))

    def _finish(self, world, operation, ended) -> None:
        if operation.name == "backup" and ended.code == 0:
            # It reads only: what an operation before it left behind is another run's to finish.
            ended = world.fork(lambda: world.open().update() and 0)
        model.require(ended.code == 0, operation.name, "did not converge", ended)
        world.keywords = True
        world.allowed = {source: {version} for source, version in operation.after.items()}
        world.check(converged=True)
        if operation.name == "backup":
            world.saved, world.saved_embedder = world.state, world.embedder
        self.figures["converged"] += 1


def _repaired(world) -> bool:
    """Whether the keyword index was mended before the kill: then it must be right."""

    def look():
        with world.open().project().catalog.reading() as reader:
            return "" if reader.keyword_problem() else "whole"

    return world.fork(look).value == "whole"


def _options(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--damages", type=int, default=60)
    parser.add_argument("--faults", type=int, default=200, help="the last write that fails")
    parser.add_argument("--soak", type=float, default=600.0, help="seconds")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="each place once, nothing more")
    parser.add_argument("--folder", type=Path, help="where to work; kept")
    parser.add_argument("--readme", action="store_true")
    return parser.parse_args(arguments)


def campaign(options, folder: Path) -> dict:
    started = time.monotonic()
    kills = Kills(folder, options.seed, short=options.short)
    kills.trace()
    if options.short:
        kills.at_each_place_once()
    else:
        kills.at_every_place(each=2)
    kills.at_random(options.kills)
    figures = {
        **kills.figures,
        "violations": kills.figures["violations"],
        "places": len(kills.places),
        "slowest reopening, s": round(kills.slowest, 2),
        "missed places": sorted({p for c in kills.traced.values() for p in c} - set(kills.places)),
        "unvisited places": sorted(
            set(failpoints.NAMES) - {p for c in kills.traced.values() for p in c}
        ),
        "last write": options.faults,
        "kill seconds": round(time.monotonic() - started),
    }
    sys.stderr.write(worlds.dump(figures) + "\n")
    if options.damages:
        figures["damage"] = damages(folder / "damage", options.damages, options.seed)
        sys.stderr.write(worlds.dump(figures["damage"]) + "\n")
    if options.faults:
        figures["faults"] = faults(range(1, options.faults + 1)) or {"faults": 0, "violations": 0}
        sys.stderr.write(worlds.dump(figures["faults"]) + "\n")
    if options.soak:
        figures["soak"] = soak(folder / "soak", options.soak)
    return figures


def main(arguments=None) -> int:
    options = _options(arguments)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="crash-"))
    folder.mkdir(parents=True, exist_ok=True)
    figures = campaign(options, folder)
    sys.stdout.write(json.dumps(figures, ensure_ascii=False) + "\n")
    if options.readme:
        write_readmes(figures)
    parts = (figures, figures.get("damage", {}), figures.get("faults", {}))
    bad = sum(part.get("violations", 0) for part in parts)
    soaked = figures.get("soak", {})
    bad += soaked.get("stale", 0) + soaked.get("errors", 0)
    if not options.folder:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
