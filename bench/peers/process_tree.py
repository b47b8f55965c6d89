"""Tells what a process and those that it started have used of the processors."""
import os
import pathlib

TICKS = os.sysconf('SC_CLK_TCK')


def _stat(pid: str) -> list[str]:
    """The fields of /proc/PID/stat from the third on; [] where it has ended."""
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='utf-8', errors='replace').rpartition(')')[2].split()
    except OSError:
        return []


def cpu_seconds_of_tree() -> float:
    """CPU seconds of this process and of all below it, those that have ended and were waited for among them."""
    stats = {name: _stat(name) for name in os.listdir('/proc') if name.isdigit()}
    mine, more = set(), {str(os.getpid())}
    while more:
        mine |= more
        more = {pid for pid, fields in stats.items() if fields and fields[1] in mine} - mine
    # utime, stime, cutime, cstime
    return sum(sum(map(int, stats[pid][11:15])) for pid in mine if stats.get(pid)) / TICKS
