"""Tests that judge figures of time, which are the machine's as well: others may use it at once."""
import functools
import os
import resource
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


class Use:
    """Of the processors while a test runs, in seconds: of all programs, and of this test's."""

    def __init__(self):
        self.begin, self.busy, self.own = time.monotonic(), *self.now()

    @staticmethod
    def now():
        with open('/proc/stat', encoding='ascii') as file:
            user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
        used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return ((user + nice + system + irq + softirq + steal) / os.sysconf('SC_CLK_TCK'),
                sum(each.ru_utime + each.ru_stime for each in used))

    def of_others(self):
        """Share of the machine's processors, since the beginning."""
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
                most = max(most, use.of_others(), taken_by_others())
                if not left and most > MOST_TAKEN:
                    self.skipTest(f'others take {most:.0%} of the processors: {failure}')
                if not left:
                    raise
    return tried
