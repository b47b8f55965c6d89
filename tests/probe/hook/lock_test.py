"""The interpreter lock, as a thread of the hook's finds it; and that the program is none the worse."""
import unittest

from support import RANGE, HookTest

LOCK = 'interpreter lock'
MILLION = 1_000_000


class Lock(HookTest):

    def held(self, text):
        told = self.run_program(text)
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
            end = time.monotonic() + 4
            optimizer = SGD()
            while time.monotonic() < end: train(DataLoader(Items(5, delay=0.01)), optimizer)
            stop = True
            thread.join()
            ''')
        self.assertGreater(max(held), 0.5)

    def test_threads_that_sleep_do_not(self):
        held = self.held('''
            end = time.monotonic() + 4
            optimizer = SGD()
            while time.monotonic() < end: train(DataLoader(Items(5, delay=0.1)), optimizer)
            ''')
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
                optimizer = SGD()
                end = time.monotonic() + 5
                while time.monotonic() < end: train(DataLoader(Items(5, delay=0.01)), optimizer)
                os._exit(0)
            os.waitpid(child, 0)
            print(child)
            ''')
        child = told.files[int(told.out)]
        self.assertTrue([e for e in child if e.name == LOCK])


if __name__ == '__main__':
    unittest.main()
