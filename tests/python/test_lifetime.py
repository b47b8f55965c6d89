"""recpack_io.Loader: who keeps which memory for how long, and what signals and forks do to it."""
import gc
import itertools
import json
import pathlib
import queue
import sys
import threading
import weakref

import numpy as np
import recpack_io
from ctrl_c import ENDLESS, ctrl_c
from png_files import png
from support import main
from test_loading import Loading, digests

HERE = pathlib.Path(__file__).parent


class Held(Loading):
    def small(self, **options):
        return self.loader(batch_size=2, **options)

    def test_they_stay_what_they_are(self):
        expected = digests(self.small())
        for prefetch in 2, 3, 9:
            loader = self.small(prefetch=prefetch, max_live_batches=len(expected))
            held = list(loader)
            self.assertGreater(len(held), prefetch)
            self.assertEqual(digests(held), expected)
            self.assertEqual(loader.stats()['held'], len(held))

    def test_an_array_alone_holds_its_batch(self):
        loader = self.small(prefetch=2)
        images = [batch['image'] for batch in itertools.islice(loader, 8)]
        expected = [batch['image'].copy() for batch in itertools.islice(self.small(), 8)]
        self.assertTrue(all((image == same).all() for image, same in zip(images, expected)))
        self.assertEqual(loader.stats()['held'], 8)
        first = images[0][1:]
        del images
        self.assertEqual(loader.stats()['held'], 1)
        del first
        self.assertEqual(loader.stats()['held'], 0)

    def test_the_iterator_holds_none(self):
        loader = self.small()
        batches = iter(loader)
        next(batches)
        self.assertEqual(loader.stats()['held'], 0)

    def test_too_many_are_told_of(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError,
                                    'holds 3 batches.*copy.*max_live_batches'):
            list(self.small(max_live_batches=3))
        loader = self.loader(batch_size=1)
        with self.assertRaisesRegex(ValueError, 'holds 16 batches'):
            list(loader)
        gc.collect()
        self.assertEqual(loader.stats()['held'], 0)

    def test_without_replacement(self):
        loader = self.small(prefetch=2, max_live_batches=0)
        for _ in range(2):
            self.assertEqual(sum(1 for _ in loader), len(loader))
        self.assertEqual(loader.stats()['slabs'], 2)
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, "holds 2 of the loader's 2"):
            list(loader)

    def test_a_plain_loop_takes_the_ring_alone(self):
        loader = self.small(prefetch=3)
        for batch in itertools.chain(loader, loader):
            batch['image'].sum()
        self.assertEqual(loader.stats()['slabs'], 3)

    def test_what_it_cannot_be(self):
        with self.assertRaisesRegex(recpack_io.InvalidArgumentError, '2 or more, or 0'):
            self.loader(max_live_batches=1)
        for wrong in -1, 2**32, 2.5, 'many', None:
            with self.assertRaisesRegex(TypeError, f'max_live_batches cannot be {wrong!r}'):
                self.loader(max_live_batches=wrong)

    def test_other_threads_let_go(self):
        expected = digests(itertools.chain(*[self.small()] * 10))
        loader = self.small(prefetch=2, max_live_batches=8)
        given, room, failures = queue.SimpleQueue(), threading.Semaphore(5), []

        def look():
            while (one := given.get()) is not None:
                number, batch = one
                if digests([batch]) != [expected[number]]:
                    failures.append(number)
                del one, batch
                room.release()

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number, batch in enumerate(itertools.chain(*[loader] * 10)):
            room.acquire()
            given.put((number, batch))
        for _ in threads:
            given.put(None)
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class References(Loading):
    def test_none_is_left(self):
        loader = self.loader()
        core = loader._core
        list(self.keys_of(loader))
        before = [sys.getrefcount(each) for each in (self.dataset, loader, core)]
        objects = len(gc.get_objects())
        for _ in range(50):
            list(self.keys_of(loader))
        self.assertEqual([sys.getrefcount(each) for each in (self.dataset, loader, core)], before)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - objects, 20)

    @staticmethod
    def keys_of(loader):
        for batch in loader:
            for name in batch:
                batch[name], np.from_dlpack(batch.dlpack(name)), batch.ids, batch.mask
            yield batch.keys()

    def test_an_array_goes_with_its_last_reference(self):
        batch = next(iter(self.loader()))
        image = batch['image']
        there = weakref.ref(image)
        del batch
        self.assertIsNotNone(there())
        del image
        self.assertIsNone(there())

    def test_a_cycle_is_collected(self):
        loader = self.loader()

        class Cycle:
            pass

        cycle = Cycle()
        cycle.own, cycle.image = cycle, next(iter(loader))['image']
        del cycle
        gc.collect()
        self.assertEqual(loader.stats()['held'], 0)

    def test_arrays_outlive_all_else(self):
        loader = self.loader(prefetch=2)
        held = [(batch['image'], batch.ids) for batch in loader]
        copies = [(image.copy(), ids.copy()) for image, ids in held]
        del loader
        gc.collect()
        for (image, ids), (same_image, same_ids) in zip(held, copies):
            self.assertTrue((image == same_image).all() and (ids == same_ids).all())

    def test_ten_thousand_batches(self):
        """In constant memory, five of them held at any time."""
        done = self.script('''
import collections, gc, json, resource
import numpy as np
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8, threads=2)
window = collections.deque(maxlen=5)
def run(batches):
    while batches > 0:
        for batch in loader:
            window.append((batch, batch["image"], np.from_dlpack(batch.dlpack("label")), batch.ids))
            batches -= 1
    del batch
    gc.collect()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, loader.stats()["slabs"],
            len(gc.get_objects()), loader.stats()["held"])
print(json.dumps([run(2000), run(10000)]))
window.clear()
print(loader.stats()["held"], loader.stats()["batches"])
del loader, dataset''')
        said = done.stdout.splitlines()
        self.assertEqual((len(said), done.stderr), (2, ''))  # nanobind tells of leaks
        (kilobytes, slabs, objects, held), after = json.loads(said[0])
        self.assertLess(after[0] - kilobytes, 2048)
        self.assertEqual((after[1], after[3]), (slabs, held))
        self.assertLess(after[2] - objects, 20)
        self.assertEqual((held, slabs <= 4 + 5), (5, True))
        self.assertEqual(said[1].split()[0], '0')


class States(Loading):
    def test_round_trips_across_processes(self):
        """Each process takes four batches and leaves a state; threads and ring differ."""
        loader = self.loader()
        expected = digests(itertools.chain(loader, loader, loader))
        seen, state = [], None
        for threads in itertools.count(1):
            done = self.script('''
import itertools, json
sys.path.append(sys.argv[2])
from test_loading import digests
state, threads = json.loads(sys.argv[3]), int(sys.argv[4])
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8, seed=3, threads=threads,
                           prefetch=1 + threads, max_live_batches=2 * threads)
if state is not None:
    loader.load_state_dict(state)
seen = []
while len(seen) < 4:
    seen += digests(itertools.islice(loader, 4 - len(seen)))
print(json.dumps([seen, loader.state_dict()]))''', HERE, json.dumps(state), threads)
            self.assertEqual(done.stderr, '')
            four, state = json.loads(done.stdout)
            seen += four
            if len(seen) >= len(expected):
                break
        self.assertEqual(seen[:len(expected)], expected)

    def test_other_ranks_go_on(self):
        loader = self.loader(batch_size=4)
        first = list(itertools.islice(loader, 3))
        state = loader.state_dict()
        seen = [number for batch in first for number in batch.ids.tolist()]
        for rank in range(2):
            other = self.loader(batch_size=2, rank=rank, world_size=2, last_batch='keep')
            other.load_state_dict(json.loads(json.dumps(state)))
            seen += [number for batch in other for number in batch.ids.tolist()]
        self.assertEqual(sorted(seen), list(range(len(self.dataset))))


ENDING = '''
import os, signal, threading, time
dataset = recpack_io.open(sys.argv[2])
fields = [recpack_io.Image(height=8, width=8, crop="resize", type="u8")]
loader = recpack_io.Loader(dataset, fields=fields, batch_size=50000, last_batch="pad")
def ask():
    try:
        next(iter(loader))
    except recpack_io.InvalidArgumentError as error:
        print(error, flush=True)
def wait_for_wait():
    while loader.stats()["waits"] == 0:
        time.sleep(0.01)
def terminate_who_waits():
    wait_for_wait()
    os.kill(os.getpid(), signal.SIGTERM)
'''


class Slow(Loading):
    """A batch of it would take an hour."""

    def setUp(self):
        super().setUp()
        self.large = self.folder / 'large.tfrecord'
        with recpack_io.Writer(self.large) as writer:
            writer.write({'image': png(np.full((3000, 3000, 3), 128, 'u1')), 'label': 1})


class Ended(Slow):
    def run_to_end(self, text):
        done = self.script(ENDING + text, self.large)
        self.assertEqual((done.stderr, done.returncode), ('', 0))
        return done.stdout.splitlines()

    def test_while_another_thread_waits_for_a_batch(self):
        said = self.run_to_end('''
thread = threading.Thread(target=ask)
thread.start()
wait_for_wait()
loader.close()
thread.join()
ask()''')
        self.assertEqual(said, ['the loader was closed; make another'] * 2)

    def test_by_the_handler_of_a_signal(self):
        said = self.run_to_end('''
def close(*_):
    loader.close()
signal.signal(signal.SIGTERM, close)
threading.Thread(target=terminate_who_waits).start()
ask()
ask()''')
        self.assertEqual(said, ['the loader was closed; make another'] * 2)

    def test_a_handler_that_asks_for_a_batch(self):
        said = self.run_to_end('''
def ask_too(*_):
    try:
        loader._next()
    finally:
        loader.close()
signal.signal(signal.SIGTERM, ask_too)
threading.Thread(target=terminate_who_waits).start()
ask()''')
        self.assertEqual(len(said), 1)
        self.assertIn('while the loader waits for one', said[0])

    def test_the_program_ends_while_a_thread_waits(self):
        self.assertIn(self.run_to_end('''
threading.Thread(target=ask, daemon=True).start()
wait_for_wait()'''), ([], ['the loader was closed; make another']))


class Interrupted(Slow):
    def test_ctrl_c_between_batches(self):
        done = ctrl_c(self.folder, ENDLESS, self.folder / 'shards', begin="""
            dataset = recpack_io.open(sys.argv[1])
            loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8)""")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ('interrupted\n', '', 0))

    def test_ctrl_c_while_a_batch_is_waited_for(self):
        done = self.script('''
import os, signal, threading
dataset = recpack_io.open(sys.argv[2])
fields = [recpack_io.Image(height=8, width=8, crop="resize", type="u8")]
loader = recpack_io.Loader(dataset, fields=fields, batch_size=50000, last_batch="pad")
for _ in range(2):
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        next(iter(loader))
    except KeyboardInterrupt:
        print("interrupted", loader.stats()["batches"])
del loader
print("gone")''', self.large)
        self.assertEqual(done.stdout.splitlines(), ['interrupted 0'] * 2 + ['gone'], done.stderr)


class Forked(Slow):
    def test_a_child_is_told_reads_what_it_holds_and_makes_its_own(self):
        done = self.script('''
import gc, os
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=2, prefetch=3)
batches = iter(loader)
held = [next(batches) for _ in range(8)]
copies = [batch["image"].copy() for batch in held]
child = os.fork()
if child == 0:
    print(all((batch["image"] == copy).all() for batch, copy in zip(held, copies)))
    try:
        next(batches)
    except recpack_io.InvalidArgumentError as error:
        print("forked" in str(error))
    del held, batches, loader
    gc.collect()
    own = recpack_io.Loader(dataset, "cifar10-train", batch_size=2)
    print(sum(1 for _ in own) == len(own), flush=True)
    sys.exit(7)  # with all that an interpreter does at its end
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), loader.stats()["held"])
print(all((batch["image"] == copy).all() for batch, copy in zip(held, copies)))
print(len(next(batches)))''')
        self.assertEqual(done.stdout.split(), ['True'] * 3 + ['7', '8', 'True', '2'], done.stderr)

    def test_before_the_first_batch(self):
        done = self.script('''
import multiprocessing
loader = recpack_io.Loader(dataset, "cifar10-train", batch_size=8)
child = multiprocessing.get_context("fork").Process(target=lambda: list(loader))
child.start()
child.join()
print(child.exitcode, sum(1 for _ in loader) == len(loader))''')
        self.assertEqual(done.stdout.strip(), '1 True')
        self.assertIn('make the loader in the process that uses it', done.stderr)

    def test_while_another_thread_waits_for_a_batch(self):
        """Locks and conditions that it had or waited for are never free again in the child."""
        done = self.script('''
import gc, os, threading, time
dataset = recpack_io.open(sys.argv[2])
fields = [recpack_io.Image(height=8, width=8, crop="resize", type="u8")]
loader = recpack_io.Loader(dataset, fields=fields, batch_size=50000, last_batch="pad")
threading.Thread(target=lambda: next(iter(loader)), daemon=True).start()
while loader.stats()["waits"] == 0:
    time.sleep(0.01)
child = os.fork()
if child == 0:
    del loader
    gc.collect()
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)''', self.large)
        self.assertEqual(done.stdout.strip(), '7', done.stderr)


if __name__ == '__main__':
    main()
