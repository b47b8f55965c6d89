"""Tests which lines of a program the hook names: small programs whose slow line is known."""
import collections
import pathlib
import textwrap
import unittest

from support import FULL_PACE, PRELUDE, RANGE, HookTest

WORKER = '''
import multiprocessing
from torch.utils.data._utils import worker

class Data:
    def __getitem__(self, item):
        return make(item)

def serve(count, start='fork', init_fn=None):
    context = multiprocessing.get_context(start)
    asked = context.Queue()
    process = context.Process(target=worker._worker_loop, args=(Data(), asked, init_fn))
    process.start()
    for item in range(count): asked.put(item)
    asked.put(None)
    process.join()
    print(process.pid)
    sys.exit(process.exitcode)
'''
Line = collections.namedtuple('Line', 'role waits part file line function calling made')


class Lines(HookTest):
    prelude = PRELUDE + FULL_PACE

    def module(self, name, text):
        """Creates a module of a library that the program can import."""
        path = self.folder / (name.replace('.', '/') + '.py')
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in list(path.parents)[:name.count('.')]:
            if not (parent / '__init__.py').exists():
                (parent / '__init__.py').write_text('')
        path.write_text(textwrap.dedent(text))

    def lines(self, events):
        """Returns the seconds that threads spent by line, known lines only."""
        lines = collections.Counter()
        for event in events:
            if event.kind == RANGE and event.name.startswith('line\t'):
                _, role, waits, part, file, number, *rest = event.name.split('\t')
                if file:
                    lines[Line(role, waits, part, pathlib.Path(file).name, int(number), *rest)] += \
                        event.value * (event.end - event.begin)
        return lines

    def longest(self, events, role):
        lines = [(time, line) for line, time in self.lines(events).items() if line.role == role]
        self.assertTrue(lines, self.lines(events))
        return max(lines)[1]

    def planted(self):
        text = (self.folder / 'program.py').read_text()
        return [n for n, line in enumerate(text.splitlines(), 1) if '# planted' in line]

    def of_worker(self, text, count=100):
        told = self.run_program(WORKER + textwrap.dedent(text) + f'\nserve({count})\n')
        self.assertEqual(told.notices, '')
        return self.longest(told.files[int(told.out)], 'worker')

    def test_a_worker_that_sleeps(self):
        line = self.of_worker('''
            def make(item):
                time.sleep(0.01)  # planted
            ''')
        self.assertEqual((line.part, line.file, [line.line], line.function, line.calling),
                         ('__getitem__', 'program.py', self.planted(), 'make', 'time.sleep'))

    def test_a_worker_says_who_started_it(self):
        for start in 'fork', 'spawn', 'forkserver':
            with self.subTest(start):
                told = self.run_program(WORKER + textwrap.dedent(f'''
                    def make(item): pass
                    if __name__ == '__main__': serve(1, '{start}')
                    '''))
                parents = [event.value for event in told.files[int(told.out)] if event.name == 'parent process']
                self.assertEqual((parents, told.notices), ([told.pid], ''))

    def test_a_program_keeps_its_switch_interval(self):
        told = self.run_program(WORKER + textwrap.dedent('''
            def make(item):
                if item == 50: sys.setswitchinterval(0.25)
                time.sleep(0.01)
                if item in (49, 99):
                    while sys.getswitchinterval() < 0.001: time.sleep(0.001)  # a sample is due
                    open(f'{__file__}.{item}', 'w').write(str(sys.getswitchinterval()))
            serve(100)
            '''))
        self.assertEqual(told.notices, '')
        self.assertEqual((self.folder / 'program.py.49').read_text(), '0.005')
        self.assertEqual((self.folder / 'program.py.99').read_text(), '0.25')

    def test_a_sample_that_is_due_shortens_the_switch_interval_of_this_python(self):
        told = self.run_program('''
            from recprobe_hook import wake
            before = sys.getswitchinterval()
            wake.prepare()
            sleep = wake.sleeper()
            sleep(0.01)
            print(sleep is not time.sleep, sys.getswitchinterval() == before)
            ''')
        self.assertEqual(told.out.split(), ['True', 'True'])

    def test_a_worker_that_computes(self):
        line = self.of_worker('''
            def make(item):
                total = 0
                for i in range(200_000):
                    total += i * i  # planted
                return total
            ''')
        self.assertEqual((line.function, line.calling), ('make', ''))
        self.assertLess(abs(line.line - self.planted()[0]), 2)  # or the loop's own line
        self.assertIn(line.waits, ('', 'processor'))

    def test_what_a_worker_does_before_its_first_sample(self):
        told = self.run_program(WORKER + textwrap.dedent('''
            def make(item): pass
            def read_table(worker):
                time.sleep(1)  # planted
            serve(1, init_fn=read_table)
            '''))
        line = self.longest(told.files[int(told.out)], 'worker')
        self.assertEqual((line.part, [line.line], line.function), ('worker_init_fn', self.planted(), 'read_table'))

    def test_saving_a_model_is_not_its_work(self):
        self.module('keras.src.utils.traceback_utils', '''
            def filter_traceback(call):
                def error_handler(*given): return call(*given)
                return error_handler
            ''')
        self.module('keras.src.saving.saving_lib', '''
            import time
            def save_weights_only(model): time.sleep(0.01)
            ''')
        self.module('keras.src.models.model', '''
            import time
            from keras.src.saving import saving_lib
            from keras.src.utils.traceback_utils import filter_traceback
            class Model:
                @filter_traceback
                def save_weights(self): saving_lib.save_weights_only(self)
                @filter_traceback
                def fit(self, calls):
                    time.sleep(0.3)
                    for call in calls: call()
            ''')
        told = self.run_program('''
            from keras.src.models.model import Model
            model = Model()
            def callback():
                model.save_weights()  # planted
            optimizer = SGD()
            for _ in range(150):
                optimizer.step()
                callback()
            model.fit([])
            ''')
        by_part = {line.part: line for line in self.lines(told.events) if line.role == 'training thread'}
        saving = by_part['']
        self.assertEqual(([saving.line], saving.calling), (self.planted(), 'keras.src.models.model.Model.save_weights'))
        self.assertEqual(by_part['model'].calling, 'keras.src.models.model.Model.fit')

    def test_a_callback_that_runs_the_model_is_not_the_model(self):
        self.module('keras.src.callbacks.callback_list', '''
            class CallbackList:
                def __init__(self, callback): self.callback = callback
                def on_train_batch_end(self): self.callback.on_train_batch_end()
            ''')
        self.module('keras.src.models.model', '''
            import time
            from keras.src.callbacks.callback_list import CallbackList
            class Model:
                def predict(self): time.sleep(0.02)
                def fit(self, callback):
                    callbacks = CallbackList(callback)
                    for _ in range(40):
                        time.sleep(0.002)
                        callbacks.on_train_batch_end()
            ''')
        self.module('numpy', '')  # with it the hook looks at a program that does not train yet
        told = self.run_program('''
            import numpy
            from keras.src.models.model import Model
            model = Model()
            class Watcher:
                def on_train_batch_end(self):
                    model.predict()  # planted
            model.fit(Watcher())
            ''')
        line = self.longest(told.events, 'program')
        self.assertEqual((line.part, [line.line]), ('', self.planted()))

    def test_the_end_of_a_loop_that_has_no_line(self):
        line = self.of_worker('''
            def make(item):
                found = 0
                for n in range(500_000):
                    if n % 7 == 8:  # planted
                        found += n
            ''')
        self.assertEqual([line.line], self.planted())

    def test_what_a_line_calls_in_a_library(self):
        self.module('PIL.Image', '''
            import time
            class Image:
                def resize(self): time.sleep(0.01)
            ''')
        line = self.of_worker('''
            from PIL.Image import Image
            def make(item):
                Image().resize()  # planted
            ''')
        self.assertEqual(([line.line], line.calling), (self.planted(), 'PIL.Image.resize'))

    def test_a_member_of_a_compose(self):
        self.module('torchvision.transforms', '''
            import time
            class Compose:
                def __init__(self, transforms): self.transforms = transforms
                def __call__(self, image):
                    for t in self.transforms: image = t(image)
                    return image
            class Slow:
                def __call__(self, image): time.sleep(0.01)
            class Fast:
                def __call__(self, image): return image
            ''')
        line = self.of_worker('''
            from torchvision.transforms import Compose, Fast, Slow
            transform = Compose([
                Fast(),
                Slow(),  # planted
            ])
            def make(item):
                return transform(item)
            ''')
        self.assertEqual((line.part, line.function, line.calling),
                         ('transform Slow', 'make', 'torchvision.transforms.Slow'))
        self.assertEqual(line.made.rpartition(':')[2], str(self.planted()[0]))

    def test_compiled_functions_of_jax_are_the_model(self):
        self.module('jaxlib', '''
            import functools
            class PjitFunction(functools.partial): pass  # its calls have no frame of Python either
            ''')
        told = self.run_program('''
            import jaxlib
            class State:
                step = jaxlib.PjitFunction(time.sleep, 0.005)
            state = State()
            def main():
                large = [State() for _ in range(1000)]
                local = jaxlib.PjitFunction(time.sleep, 0.005)
                optimizer = SGD()
                for _ in range(200):
                    optimizer.step()
                    local()
                    state.step()
                    time.sleep(0.01)  # planted
                states = sys.getrefcount(large)
                print(states, end='')
            main()
            ''')
        lines = collections.Counter()
        for line, seconds in self.lines(told.events).items():
            lines[line.part, line.calling] += seconds
        self.assertEqual({key for key, time in lines.items() if time > 0.02 * sum(lines.values())},
                         {('model', 'local'), ('model', 'state.step'), ('', 'time.sleep')}, lines)
        self.assertEqual(told.out.strip(), '2')  # of its own name and the call

    def test_a_generator_on_the_training_thread(self):
        told = self.run_program('''
            def batches():
                for i in range(150):
                    time.sleep(0.01)  # planted
                    yield i
            optimizer = SGD()
            for _ in batches():
                optimizer.step()
            ''')
        line = self.longest(told.events, 'training thread')
        self.assertEqual((line.part, [line.line], line.waits, line.function),
                         ('generator', self.planted(), 'sleep', 'batches'))

    def test_an_expression_within_a_line_makes_no_batches(self):
        told = self.run_program('''
            def check():
                return all(time.sleep(0.01) is None for _ in range(1))  # planted
            optimizer = SGD()
            for _ in range(150):
                optimizer.step()
                check()
            ''')
        line = self.longest(told.events, 'training thread')
        self.assertEqual((line.part, [line.line]), ('', self.planted()))

    def test_code_between_batches(self):
        told = self.run_program('''
            def log():
                time.sleep(0.01)  # planted
            optimizer = SGD()
            for _ in DataLoader(Items(150)):
                optimizer.step()
                log()
            ''')
        line = self.longest(told.events, 'training thread')
        self.assertEqual((line.part, [line.line], line.function), ('', self.planted(), 'log'))

    def test_another_thread_of_the_program(self):
        told = self.run_program('''
            import threading
            def produce():
                while not over:
                    time.sleep(0.01)  # planted
            over = False
            thread = threading.Thread(target=produce)
            thread.start()
            train(DataLoader(Items(100, delay=0.02)), SGD())
            over = True
            thread.join()
            ''')
        line = self.longest(told.events, 'thread')
        self.assertEqual(([line.line], line.function), (self.planted(), 'produce'))

    def test_a_thread_that_waits_for_a_lock(self):
        told = self.run_program('''
            import threading
            lock = threading.Lock()
            lock.acquire()
            def wait():
                lock.acquire()  # planted
            thread = threading.Thread(target=wait)
            thread.start()
            train(DataLoader(Items(60, delay=0.02)), SGD())
            lock.release()
            thread.join()
            ''')
        line = self.longest(told.events, 'thread')
        self.assertEqual(([line.line], line.calling, line.waits),
                         (self.planted(), 'lock.acquire', 'lock'))

    def test_places_are_bounded(self):
        """A program may make its code as it runs."""
        told = self.run_program('''
            def run(number):
                names = {'time': time}
                exec(compile('\\n' * number + 'time.sleep(0.001)', '<string>', 'exec'), names)
            import recprobe_hook.lines
            recprobe_hook.lines._MOST = 5
            optimizer = SGD()
            for number in range(3000):
                run(number)
                optimizer.step()
            ''')
        self.assertLess(len(self.lines(told.events)), 7)
        self.assertTrue(any('\tothers\t' in e.name for e in told.events))


if __name__ == '__main__':
    unittest.main()
