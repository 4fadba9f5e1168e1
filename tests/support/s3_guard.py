"""Runs the command in its arguments until standard input ends, then ends it.

Whoever started this need not live to do so: the pipe closes however a process dies.
"""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path


def main(command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def wait_for_the_end():
        os.read(0, 1)
        process.kill()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    code = process.wait()
    # SeaweedFS leaves its sockets when it is killed.
    for port in re.findall(r"\.port[.\w]*=(\d+)", "\n".join(command)):
        for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            left.unlink(missing_ok=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
