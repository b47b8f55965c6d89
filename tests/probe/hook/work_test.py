"""Tests the sampling of input threads' stacks."""
import textwrap
import unittest

from support import FULL_PACE, PRELUDE, RANGE, HookTest

MILLION = 1_000_000

WORKER = '''
import multiprocessing
from torch.utils.data._utils import worker

class Data:
    def __getitem__(self, item):
        return make(item)

def serve(count, seconds):
    asked = multiprocessing.Queue()
    process = multiprocessing.Process(target=worker._worker_loop, args=(Data(), asked))
    process.start()
    for item in range(count): asked.put(item)
    time.sleep(seconds)
    asked.put(None)
    process.join()
    print(process.pid)
'''


class Work(HookTest):
    prelude = PRELUDE + FULL_PACE

    def module(self, name, text):
        """Creates a module of a library that the program can import."""
        path = self.folder / (name.replace('.', '/') + '.py')
        path.parent.mkdir(parents=True, exist_ok=True)
        # Otherwise the real library, if it is installed, would be imported.
        for parent in list(path.parents)[:name.count('.')]:
            if not (parent / '__init__.py').exists():
                (parent / '__init__.py').write_text('')
        path.write_text(textwrap.dedent(text))

    def shares(self, events):
        """Returns the mean number of threads for each kind of work over its records."""
        told = [e for e in events if e.kind == RANGE and e.name.startswith('input: ')]
        if not told:
            return {}
        length = max(e.end for e in told) - min(e.begin for e in told)
        shares = {}
        for event in told:
            kind = event.name.removeprefix('input: ')
            shares[kind] = shares.get(kind, 0) + event.value * (event.end - event.begin) / length
        return {kind: share / MILLION for kind, share in shares.items()}

    def of_worker(self, text, count=200, seconds=1.5):
        told = self.run_program(WORKER + textwrap.dedent(text) + f'\nserve({count}, {seconds})\n')
        self.assertEqual(told.notices, '')
        return self.shares(told.files[int(told.out)])

    def test_the_programs_own_function(self):
        shares = self.of_worker('def make(item): time.sleep(0.01)', 400)
        self.assertGreater(shares['user function'], 0.6, shares)

    def test_a_library_that_decodes(self):
        self.module('PIL.ImageFile', '''
            import time
            def load(): time.sleep(0.009)
            ''')
        shares = self.of_worker('''
            from PIL.ImageFile import load
            def make(item):
                load()
                if item % 10 == 0: time.sleep(0.001)  # its length also depends on other threads
            ''')
        self.assertGreater(shares['decode'], 0.6, shares)

    def test_operations_on_pictures_are_augmentation(self):
        self.module('PIL.Image', '''
            import time
            class Image:
                def paste(self): time.sleep(0.01)
            ''')
        shares = self.of_worker('''
            from PIL.Image import Image
            def make(item): Image().paste()
            ''')
        self.assertGreater(shares['augment'], 0.6, shares)

    def test_decompression(self):
        shares = self.of_worker('''
            import gzip, os
            text = gzip.compress(os.urandom(1 << 18), 1)
            def make(item):
                for _ in range(50): gzip.decompress(text)
            ''')
        self.assertGreater(shares['decompression'], 0.6, shares)

    def test_compression_is_the_function_s(self):
        shares = self.of_worker('''
            import gzip, lzma, os
            text = os.urandom(1 << 14)
            def make(item):
                for _ in range(5): lzma.compress(text)
                with gzip.open('/dev/null', 'wb') as file:
                    for _ in range(30): file.write(text)
            ''')
        self.assertGreater(shares['user function'], 0.6, shares)

    def test_the_directory_of_an_archive_is_the_function_s(self):
        shares = self.of_worker('''
            import io, zipfile
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, 'w') as archive:
                for number in range(2000): archive.writestr(str(number), b'')
            def make(item):
                for _ in range(10): zipfile.ZipFile(packed)
            ''', 60)
        self.assertGreater(shares['user function'], 0.6, shares)

    def test_a_worker_that_waits(self):
        shares = self.of_worker('def make(item): pass', 1, seconds=4)
        self.assertGreater(shares['waiting'], 0.8, shares)

    def of_trainer(self, text):
        return self.shares(self.run_program(text).events)

    def test_a_function_that_a_library_calls_in_its_thread(self):
        self.module('tensorflow.script', 'def call(function): function()')
        shares = self.of_trainer('''
            import threading
            from tensorflow import script
            over = False
            def function():
                while not over: time.sleep(0.1)
            threading.Thread(target=script.call, args=(function,)).start()
            train(DataLoader(Items(100, delay=0.02)), SGD())
            over = True
            ''')
        self.assertGreater(shares['user function'], 0.8, shares)

    def test_what_the_program_lets_go_of_is_gone_at_once(self):
        told = self.run_program('''
            import threading, weakref
            class Large: pass
            def use():
                large = Large()
                time.sleep(0.11)  # long enough to be sampled
                return weakref.ref(large)
            thread = threading.Thread(target=lambda: train(DataLoader(Items(3)), SGD()))
            thread.start()
            thread.join()
            print(sum(use()() is not None for _ in range(20)))
            ''')
        # A frame that is being sampled lives until the sample ends.
        self.assertLess(int(told.out), 10)

    def test_other_threads_are_no_input(self):
        shares = self.of_trainer('''
            import threading
            def function(): time.sleep(3)
            threading.Thread(target=function).start()
            train(DataLoader(Items(100, delay=0.02)), SGD())
            ''')
        self.assertEqual(set(shares), {'own user function'}, shares)

    def test_the_training_thread_in_a_loader_without_workers(self):
        self.module('PIL.ImageFile', 'import time\ndef load(): time.sleep(0.1)\n')
        shares = self.of_trainer('''
            from PIL.ImageFile import load
            class Pictures(Items):
                def __iter__(self):
                    for i in range(self.count):
                        time.sleep(0.1)
                        load()
                        yield i
            optimizer = SGD()
            for _ in DataLoader(Pictures(40)):
                time.sleep(0.15)  # the step's own
                optimizer.step()
            ''')
        # A loaded machine takes a sample in 0.5 s: about 28, of which 16 are the input's.
        self.assertEqual(set(shares), {'own user function', 'own decode'}, shares)
        self.assertLess(sum(shares.values()), 0.9, shares)


if __name__ == '__main__':
    unittest.main()
