"""Parts of tests and benches that pack on Ray clusters of this machine."""
import contextlib
import pathlib
import signal
import time

import psutil


def contents(folder):
    """The bytes of the files that a user sees, by name."""
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.is_file()}


def workers(name):
    """Those workers of this process's clusters that run the task or actor."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if name in ' '.join(process.cmdline()):
                yield process


def kill_one(name, seconds=float('inf')):
    """Kills one of the workers; waits for one; returns its number, or None."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for process in workers(name):
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGKILL)
                return process.pid
        time.sleep(0.005)
    return None
