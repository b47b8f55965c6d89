"""Tests that judge figures of time, which are the machine's as well: others may use it at once."""
import functools
import os
import subprocess
import sys
import time

TRIES = 3
MOST_TAKEN = 0.1  # share of the processors

# Computes for a moment; prints the share of it that it had a processor.
COMPUTE = '''
import time
begin, ran = time.monotonic(), time.thread_time()
while time.monotonic() < begin + 0.5: pass
print((time.thread_time() - ran) / (time.monotonic() - begin))
'''


def processors():
    """How many this process may use at once, its cgroup's quota included."""
    try:
        with open('/sys/fs/cgroup/cpu.max', encoding='ascii') as file:
            quota, period = map(float, file.read().split())
    except (OSError, ValueError):  # none, or "max"
        return len(os.sched_getaffinity(0))
    return max(1, min(len(os.sched_getaffinity(0)), int(quota / period)))


def of_tree(root):
    """Seconds that a process, its children, and those of these that have ended had."""
    parents, used = {}, {}
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', encoding='utf8', errors='replace') as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:  # it has ended
            continue
        parents[int(name)], used[int(name)] = int(fields[1]), sum(map(int, fields[11:15]))
    tree = {root}
    while grown := {one for one, parent in parents.items() if parent in tree} - tree:
        tree |= grown
    return sum(used.get(one, 0) for one in tree) / os.sysconf('SC_CLK_TCK')


class Use:
    """Processor seconds while a test runs: of all programs, and of this test's."""

    def __init__(self):
        self.begin, self.busy, self.own = time.monotonic(), *self.now()

    @staticmethod
    def now():
        with open('/proc/stat', encoding='ascii') as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
        return ((user + nice + system + irq + softirq + steal) / os.sysconf('SC_CLK_TCK'),
                of_tree(os.getpid()))

    def of_others(self):
        """Share of the machine's processors, since the beginning; of a part of a machine it is not
        told."""
        if processors() < os.cpu_count():
            return 0
        busy, own = self.now()
        had = os.cpu_count() * (time.monotonic() - self.begin)
        return ((busy - self.busy) - (own - self.own)) / had


def taken_by_others():
    """Share of the processors that this process may use, and does not get, in this moment."""
    computing = [subprocess.Popen([sys.executable, '-c', COMPUTE], stdout=subprocess.PIPE, text=True)
                 for _ in range(processors())]
    got = [float(each.communicate()[0]) for each in computing]
    return 1 - sum(got) / len(got)


def judges_time(test):
    """What is wrong with the program is wrong in each of three tries. Where they all fail and others
    take the processors, then or right behind, there is no verdict: the test is skipped, with the
    reason."""
    @functools.wraps(test)
    def tried(self):
        most = 0
        for left in reversed(range(TRIES)):
            use = Use()
            try:
                return test(self)
            except (self.failureException, subprocess.TimeoutExpired) as failure:
                # What ran too long may have left its children to others.
                late = isinstance(failure, subprocess.TimeoutExpired)
                most = max(most, 0 if late else use.of_others(), taken_by_others())
                if not left and most > MOST_TAKEN:
                    self.skipTest(f'others take {most:.0%} of the processors: {failure}')
                if not left:
                    raise
    return tried
