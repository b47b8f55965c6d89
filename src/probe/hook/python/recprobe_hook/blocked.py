"""Says whether a thread computes or is blocked, and in what.

It looks at the function of the kernel in which the thread sleeps (wchan), and at how long the
thread has run and has waited for a processor (schedstat).
"""
import os
import sys
import time

# Parts of the names of the kernel's functions, and what a thread that sleeps in one waits for.
_KERNEL = (('nanosleep', 'sleep'), ('futex', 'lock'), ('pipe', 'pipe'), ('unix', 'pipe'),
           ('tcp', 'network'), ('inet', 'network'), ('sk_', 'network'), ('skb', 'network'),
           ('wait_woken', 'network'), ('udp', 'network'), ('poll', 'poll'), ('select', 'poll'),
           ('wait4', 'process'), ('do_wait', 'process'), ('waitid', 'process'))
COMPUTES = '', 'processor'  # what a thread that could run waits for
_READS = 'I/O'  # all others: pages, file systems, block devices
_MOSTLY = 0.5  # of the time since the last sample
_REMEMBERED = 5e8  # ns, for which samples may say "computes" too often before that is forgotten
_LITTLE = 0.35  # of it: a thread that ran, or could have, for longer gave the sampler the lock


class Threads:
    """What the kernel tells of threads since their last sample. Keeps the interpreter lock."""

    def __init__(self):
        import ctypes
        program = ctypes.PyDLL(None)
        self.open, self.read, self.close = program.open, program.read, program.close
        self.read.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        self.text = ctypes.create_string_buffer(100)
        # By thread: its number; times in which it ran and waited for a processor; of the sample.
        self.last = {}
        self.unseen = {}  # by thread: ns that it computed, less those of its samples that say so

    def forget(self, there):
        """Forgets all threads but these."""
        for known in self.last, self.unseen:
            for thread in [one for one in known if one not in there]:
                del known[thread]

    def number_of(self, thread):
        """Returns the kernel's number of a thread that has a frame, and so exists while this thread
        holds the interpreter lock; None if it is not known."""
        if not getattr(sys, '_is_gil_enabled', lambda: True)():
            threading = sys.modules.get('threading')
            active = threading._active.get(thread) if threading is not None else None
            return active.native_id if active is not None else None
        # Linux: ~number << 3 | CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED
        return ~(time.pthread_getcpuclockid(thread) >> 3)

    def text_of(self, number, name):
        """Returns a file of the thread in /proc; '' if there is none."""
        file = self.open(b'/proc/self/task/%d/%s' % (number, name), os.O_RDONLY | os.O_CLOEXEC)
        if file < 0:
            return ''
        size = self.read(file, self.text, 100)
        self.close(file)
        return self.text.raw[:max(0, size)].decode('ascii', 'replace')

    def times_of(self, number):
        """Returns how long a thread has run, and has waited for a processor [ns]."""
        words = self.text_of(number, b'schedstat').split()
        if len(words) >= 2:
            return int(words[0]), int(words[1])
        return time.clock_gettime_ns(~number << 3 | 6), 0

    def since(self, thread, number, when):
        """Returns the shares of the time since the last sample in which a thread ran and waited for
        a processor; None at its first sample."""
        ran, queued = self.times_of(number)
        before = self.last.get(thread)
        self.last[thread] = number, ran, queued, when
        if before is None or before[0] != number or when <= before[3]:
            return None
        length = when - before[3]
        return (ran - before[1]) / length, (queued - before[2]) / length

    def state(self, thread, when, native):
        """Returns what a thread waits for, '' if it computes, and the time [ns] up to the sample
        before for which it computed though no sample said so. `native`: whether the thread is in
        native code."""
        try:
            number = self.number_of(thread)
            if number is None:
                return '', 0
            before = self.last.get(thread)
            since = self.since(thread, number, when)
        except (OSError, AttributeError):
            return '', 0
        waits = self.waits(number, since, native)
        if since is None:
            return waits, 0
        return waits, self.missed(thread, waits in COMPUTES, sum(since), when - before[3])

    def waits(self, number, since, native):
        name = self.text_of(number, b'wchan')
        if not name or name == '0':
            return 'processor' if since is not None and since[1] > _MOSTLY else ''
        for part, waits in _KERNEL:
            if part in name:
                break
        else:
            waits = _READS
        if waits != 'lock':
            return waits
        # It may have given this thread the interpreter's lock, and waits for it.
        if since is None or sum(since) > _LITTLE:
            return ''
        return 'lock' if native else 'interpreter lock'

    def missed(self, thread, computes, share, span):
        """Returns the part of `span` [ns] for which the thread computed though its samples show it
        blocked. They do so too often where processors are short: the sampler gets one when the
        thread needs none. The reverse is no error: who waits for the interpreter lock does not
        run. `share`: of the span, in which it ran or waited for a processor."""
        unseen = self.unseen.get(thread, 0) + share * span
        missed = 0
        if computes:
            unseen = max(unseen - span, -_REMEMBERED)
        else:
            missed = int(min(max(0, unseen), span))
            unseen -= missed
        self.unseen[thread] = unseen
        return missed
