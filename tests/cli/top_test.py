"""Tests of recprobe top, the live view of a training: on a pseudo terminal and without one."""
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from probe_program import ProbeCase, RECPROBE
from support import DONE, FAILURE

DEADLINE = 120
ENTER, LEAVE = '\x1b[?1049h', '\x1b[?1049l'

# Tells of steps of 10 ms, by the clock: a third of each waits for input. Says what it is asked to.
TRAINING = r'''
import os, struct, sys, time
print("said by the training", flush=True)
log = open(f"{os.environ['RECPACK_EVENTS']}/{os.getpid()}-test.events", "wb", buffering=0)
def put(kind, device, lane, begin, end, value=0):
    log.write(struct.pack("<BBHIIIqqQ", kind, 0, device, lane, 0, 0, begin, end, value))
put(0, 65535, os.getpid(), time.monotonic_ns(), 0, 0x315456454b504352)
at = time.monotonic_ns()
for step in range(int(sys.argv[1])):
    time.sleep(0.01)
    now = time.monotonic_ns()
    middle = at + (now - at) // 3
    put(3, 0, 1, at, middle); put(4, 0, 1, middle, now); put(2, 0, 1, at, now, step)
    at = now
sys.exit(int(sys.argv[2]))
'''



class Terminal:
    """A program whose streams are a pseudo terminal of 20 rows of 90 characters."""

    def __init__(self, *words):
        self.leader, self.follower = os.openpty()
        fcntl.ioctl(self.follower, termios.TIOCSWINSZ, struct.pack('HHHH', 20, 90, 0, 0))
        self.before = termios.tcgetattr(self.follower)
        self.program = subprocess.Popen([RECPROBE, 'top', *map(str, words)], stdin=self.follower,
                                        stdout=self.follower, stderr=self.follower,
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.set_blocking(self.leader, False)
        self.text = ''

    def read(self):
        try:
            self.text += os.read(self.leader, 65536).decode(errors='replace')
        except BlockingIOError:
            time.sleep(0.01)

    def wait_for(self, *parts):
        """Reads until all parts have been shown."""
        until = time.monotonic() + DEADLINE
        while not all(part in self.text for part in parts):
            if time.monotonic() > until:
                raise AssertionError(f'{parts} in {self.text[-3000:]!r}')
            self.read()

    def press(self, key):
        os.write(self.leader, key)

    def end(self):
        """The exit code; the terminal is as it was."""
        until = time.monotonic() + DEADLINE
        while self.program.poll() is None:
            if time.monotonic() > until:
                self.program.kill()
                raise AssertionError(f'it does not end: {self.text[-3000:]!r}')
            self.read()
        self.read()
        assert termios.tcgetattr(self.follower) == self.before
        os.close(self.leader)
        os.close(self.follower)
        return self.program.returncode


class TopCase(ProbeCase):
    def training(self, steps, code=0):
        """The words of a command that tells of so many steps and then exits with `code`."""
        script = self.folder / 'training.py'
        script.write_text(TRAINING)
        return ['--', sys.executable, script, str(steps), str(code)]


class OnATerminal(TopCase):
    def test_shows_a_training_to_its_end_and_then_the_verdict(self):
        top = Terminal('--interval', '0.2', *self.training(200))
        top.wait_for('/s so far', 'waits for input', 'now', 'CPU', 'memory', 'disk', 'q ends it): training.py',
                     'said by the training')
        self.assertEqual(top.end(), DONE)
        shown, _, after = top.text.rpartition(LEAVE)
        self.assertEqual(shown.count(ENTER), 1)
        self.assertIn('verdict: highly input-bound', after)
        for line in shown.split('\x1b[H')[1:]:
            self.assertLessEqual(line.count('\r\n'), 19)

    def test_q_ends_the_command_too(self):
        top = Terminal('--interval', '0.2', *self.training(1_000_000))
        top.wait_for('/s so far')
        top.press(b'x')
        top.press(b'q')
        self.assertEqual(top.end(), DONE)
        self.assertIn('verdict: ', top.text.rpartition(LEAVE)[2])

    def test_ctrl_c_ends_both(self):
        top = Terminal('--interval', '0.2', *self.training(1_000_000))
        top.wait_for('/s so far')
        top.press(b'\x03')
        self.assertNotEqual(top.end(), DONE)  # the command's: it was interrupted
        self.assertIn('KeyboardInterrupt', top.text.rpartition(LEAVE)[2])

    def test_a_command_that_fails_is_heard(self):
        top = Terminal('--interval', '0.2', *self.training(30, 7))
        self.assertEqual(top.end(), 7)
        after = top.text.rpartition(LEAVE)[2]
        self.assertIn('said by the training', after)
        self.assertIn('ended with exit code 7', after)

    def test_q_leaves_a_process_that_ran_already(self):
        with subprocess.Popen(['sleep', '600']) as program:
            top = Terminal('--interval', '0.2', '--pid', program.pid)
            top.wait_for(f'sleep, process {program.pid}', 'none were told yet')
            top.press(b'q')
            self.assertEqual(top.end(), DONE)
            self.assertIsNone(program.poll())
            program.kill()

    def test_ctrl_c_leaves_it_too(self):
        with subprocess.Popen(['sleep', '600']) as program:
            top = Terminal('--interval', '0.2', '--pid', program.pid)
            top.wait_for('CPU')
            top.press(b'\x03')
            self.assertEqual(top.end(), DONE)
            self.assertIsNone(program.poll())
            program.kill()


class WithoutATerminal(TopCase):
    def test_prints_lines(self):
        done = self.probe('top', '--interval', '0.2', *self.training(200))
        self.assertEqual(done.stdout, 'said by the training\n')
        self.assertRegex(done.stderr, r'\n\d+ s: [0-9.]+ steps/s, waits for input [0-9.]+ % \[')
        self.assertIn('verdict: highly input-bound', done.stderr)
        self.assertNotIn('\x1b', done.stderr)

    def test_of_a_process_until_it_ends(self):
        with subprocess.Popen(['sleep', '600']) as program:
            top = subprocess.Popen([RECPROBE, 'top', '--interval', '0.1', '--pid',
                                    str(program.pid)], stdout=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
            self.assertRegex(top.stdout.readline(), r'^0 s: 0\.00 steps/s, unknown; CPU ')
            program.kill()
            self.assertIn('verdict: unknown', top.communicate(timeout=DEADLINE)[0])
            self.assertEqual(top.returncode, DONE)

    def test_a_signal_ends_it_with_its_result(self):
        with subprocess.Popen(['sleep', '600']) as program:
            top = subprocess.Popen([RECPROBE, 'top', '--interval', '0.1', '--pid',
                                    str(program.pid)], stdout=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
            top.stdout.readline()
            top.send_signal(signal.SIGTERM)
            self.assertIn('verdict: unknown', top.communicate(timeout=DEADLINE)[0])
            self.assertEqual(top.returncode, DONE)
            program.kill()

    def test_what_to_watch_must_be_clear(self):
        for words in [], ['--pid', os.getpid(), '--', 'true']:
            self.assertIn('write --pid', self.probe('top', *words, code=FAILURE).stderr)
        self.assertIn('not found', self.probe('top', '--', './none', code=127).stderr.lower()
                      .replace('no such file', 'not found'))


if __name__ == '__main__':
    unittest.main()
