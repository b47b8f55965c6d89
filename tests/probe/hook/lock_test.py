"""Tests the measurement of the interpreter lock, and that it does not disturb the program."""
import unittest

from support import PRELUDE, RANGE, HookTest

LOCK = 'interpreter lock'
MILLION = 1_000_000
# Programs train until the hook's thread has written this many records about the lock.
UNTIL = '''
import os
from recprobe_hook.events import LOCK
def told_of_lock():
    """Counts the records of this process: 40 bytes each, ranges (kind 7) with the lock's name."""
    path = f"{os.environ['RECPACK_EVENTS']}/{os.getpid()}-python."
    if os.path.exists(path + 'notice'): raise SystemExit('it is not watched')
    if not os.path.exists(path + 'events'): return 0  # a forked child's, before its first
    with open(path + 'events', 'rb') as file: records = file.read()
    return sum(records[at] == 7 and records[at + 8] == LOCK for at in range(0, len(records) - 39, 40))
def train_until_told(times, delay):
    optimizer = SGD()
    while told_of_lock() < times: train(DataLoader(Items(20, delay=delay)), optimizer)
'''


class Lock(HookTest):

    def held(self, text):
        told = self.run_program(text, prelude=PRELUDE + UNTIL)
        self.assertEqual(told.notices, '')
        return [e.value / MILLION for e in told.closed(RANGE, LOCK)]

    def test_a_thread_that_computes_holds_it(self):
        held = self.held('''
            import threading
            stop = False
            def hog():
                while not stop: pass
            thread = threading.Thread(target=hog)
            thread.start()
            train_until_told(3, delay=0.01)
            stop = True
            thread.join()
            ''')
        self.assertGreater(max(held), 0.5)

    def test_threads_that_sleep_do_not(self):
        held = self.held('train_until_told(8, delay=0.05)')
        self.assertLess(min(held), 0.5)

    def test_it_is_asked_for_in_programs_that_train_only(self):
        told = self.run_program('import os; print(len(os.listdir("/proc/self/task")))')
        self.assertEqual(told.out, '1\n')

    def test_the_program_sees_no_thread_and_ends_as_ever(self):
        told = self.run_program('''
            import threading
            train(DataLoader(Items(3)), SGD())
            print(threading.active_count(), [t.name for t in threading.enumerate()])
            ''')
        self.assertEqual(told.out, "1 ['MainThread']\n")
        self.expect_steps(told, 3)

    def test_a_forked_child_that_trains_has_a_thread_of_its_own(self):
        told = self.run_program('''
            import os
            train(DataLoader(Items(3)), SGD())
            child = os.fork()
            if child == 0:
                train_until_told(1, delay=0.01)
                os._exit(0)
            os.waitpid(child, 0)
            print(child)
            ''', prelude=PRELUDE + UNTIL)
        child = told.files[int(told.out)]
        self.assertTrue([e for e in child if e.name == LOCK])


if __name__ == '__main__':
    unittest.main()
