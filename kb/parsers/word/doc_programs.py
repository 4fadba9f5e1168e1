"""The programs that can read Word 97 files, and how they are run on a hostile one.

They run beneath the sandbox's child and inherit its limits of memory and CPU; time and output are
bounded here too. They see a copy in a folder of its own, never the user's folder, and no shell.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_PREFIX: Final = "kb-doc-"
_STALE_SECONDS: Final = 3600
_MOST_OUTPUT: Final = 64 << 20
_PROFILE: Final = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""
"""LibreOffice: no macros, nothing fetched, links never updated."""


def program(*names: str) -> str:
    """Full path of the first installed program of these names, empty when there is none.

    LibreOffice is not put on PATH by its installers for Windows and macOS: its own folders too.
    """
    places = [os.environ.get("PATH", os.defpath)]
    if sys.platform == "win32":
        roots = (os.environ.get(key, "") for key in ("ProgramFiles", "ProgramFiles(x86)"))
        places += [str(Path(root) / "LibreOffice" / "program") for root in roots if root]
    elif sys.platform == "darwin":
        places.append("/Applications/LibreOffice.app/Contents/MacOS")
    search = os.pathsep.join(places)
    return next(filter(None, (shutil.which(name, path=search) for name in names)), "")


@contextlib.contextmanager
def copied(path: Path, suffix: str) -> Iterator[Path]:
    """A copy of the file called `in` + `suffix`, alone in a folder that goes with the block."""
    _sweep()
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / f"in{suffix}"
        shutil.copyfile(path, copy)
        yield copy


def output(command: Sequence[str], folder: Path, seconds: float) -> bytes:
    """What a program prints; empty when it fails, takes longer, or prints more than 64 MiB."""
    with subprocess.Popen(
        list(command),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            printed = process.stdout.read(_MOST_OUTPUT + 1) if process.stdout else b""
        finally:
            timer.cancel()
        if len(printed) > _MOST_OUTPUT:
            process.kill()
    return printed if process.returncode == 0 and len(printed) <= _MOST_OUTPUT else b""


def converted(soffice: str, path: Path, seconds: float) -> Path | None:
    """`path` as .docx by LibreOffice, beside it; None when that fails or takes longer.

    Its profile is a new one in the same folder: nobody's settings, macros off.
    """
    user = path.parent / "profile" / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(_PROFILE, encoding="utf-8")
    profile = f"-env:UserInstallation={user.parent.as_uri()}"
    options = ("--headless", "--norestore", "--nolockcheck", "--convert-to", "docx", "--outdir")
    command = (soffice, profile, *options, str(path.parent), str(path))
    # No pipe: the launcher's own child would hold it open after the launcher was killed.
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command,
            cwd=path.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    result = path.with_suffix(".docx")
    return result if result.is_file() else None


def _sweep() -> None:
    """Remove the folders of children that were killed."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
