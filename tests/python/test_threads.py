"""Python threads run at the same time: those of a loader, which call functions, and the user's."""
import os
import queue
import subprocess
import sys
import sysconfig
import threading
import time
import unittest

import numpy as np
import recpack_io
from calls import Calls, odd
from recpack_io import Function
from support import main
from test_loading import digests

FREE = bool(sysconfig.get_config_var('Py_GIL_DISABLED'))
_LOOKS = 1_000_000  # of a call that has the interpreter's lock: nobody else comes meanwhile
_MOST_SECONDS = 300  # of one that has none


def at_once(*calls):
    """Calls each in a thread of its own, all behind one line; gives what they gave."""
    line, given = threading.Barrier(len(calls)), [None] * len(calls)

    def run(number, call):
        line.wait()
        given[number] = call()
    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return given


class Meeting:
    """A function whose first call waits for the beginning of a second one, and never lets go of the
    interpreter while it does."""

    def __init__(self):
        self.calls, self.met = [], {}

    def __call__(self, what):
        me, looks, end = object(), 0, time.monotonic() + _MOST_SECONDS
        self.calls.append(me)
        while len(self.calls) < 2 and (time.monotonic() < end if FREE else looks < _LOOKS):
            looks += 1
        self.met[me] = len(self.calls) > 1
        return {'x': np.ones(len(what.ids), np.uint8) if hasattr(what, 'ids') else 1}

    def first_met(self):
        return self.met[self.calls[0]]


class Functions(Calls):
    def setUp(self):
        super().setUp()
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(3600)  # a lock is not taken from who has it for being waited for

    def test_are_called_at_the_same_time_where_there_is_no_lock(self):
        meeting = Meeting()
        list(self.loader(Function(meeting, {'x': 'uint8'}), threads=2))
        self.assertEqual(meeting.first_met(), FREE)

    def test_are_called_with_batches_at_the_same_time_where_there_is_no_lock(self):
        meeting = Meeting()
        change = recpack_io.BatchFunction(meeting, {'x': 'uint8'})
        list(self.loader(batch_functions=[change], threads=2))
        self.assertEqual(meeting.first_met(), FREE)


class Module(Calls):
    @unittest.skipIf('RECPACK_EMULATED' in os.environ, 'starts programs of another processor')
    def test_needs_no_lock(self):
        said = 'getattr(sys, "_is_gil_enabled", lambda: True)()'
        done = subprocess.run([sys.executable, '-W', 'error', '-c',
                               f'import sys, recpack_io, recpack_io.workers; print({said})'],
                              text=True, capture_output=True, check=False)
        self.assertEqual((done.stdout, done.stderr), (f'{not FREE}\n', ''))


class Readers(Calls):
    def test_of_one_record(self):
        for number in range(len(self.dataset)):
            record, expected = self.dataset[number], self.dataset[number].to_dict()

            def image(record=record):
                return record['image'].tobytes()

            def all_of_it(record=record):
                return [list(record), record.to_dict()['image'].tobytes(), len(record)]
            given = at_once(image, all_of_it, image, all_of_it)
            wanted = expected['image'].tobytes()
            self.assertEqual(given, [wanted, [list(expected), wanted, 2]] * 2)

    def test_of_a_sample_whose_function_ends(self):
        """Threads of a function go on reading: they get the sample's own values, or are told."""
        path = self.folder / 'words.tfrecord'
        with recpack_io.Writer(path) as writer:
            for number in range(64):
                writer.write({'words': [b'%d' % number * each for each in range(1, 200)],
                              'image': bytes([number]) * 50_000, 'number': [number] * 100})
        wrong, threads = [], []

        def read(sample, number):
            try:
                while True:
                    same = (sample['image'] == number).all() and (sample['number'] == number).all()
                    words = [word.tobytes() for word in sample['words']]
                    if not same or words != [b'%d' % number * each for each in range(1, 200)]:
                        wrong.append(number)
                    if 'words' not in sample or sample.keys() != ['image', 'number', 'words']:
                        wrong.append(number)
            except RuntimeError as error:
                if 'while its function is called, not after' not in str(error):
                    wrong.append(error)

        def call(sample):
            thread = threading.Thread(target=read, args=(sample, int(sample['number'][0])))
            threads.append(thread)
            thread.start()
            return {'x': sample['words'][2].size}
        loader = recpack_io.Loader(recpack_io.open(path), batch_size=8, threads=3,
                                   fields=[Function(call, {'x': 'int64'})])
        for _ in loader:
            pass
        loader.close()
        for thread in threads:
            if thread.ident is not None:  # what it was to be started by may have been interrupted
                thread.join()
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(len(threads), 64)


class Loaders(Calls):
    def test_side_by_side_on_one_data_set(self):
        def epoch():
            return digests(self.loader(threads=2))
        self.assertEqual(at_once(epoch, epoch, epoch, epoch), [epoch()] * 4)

    def test_is_looked_at_while_it_gives(self):
        loader, done = self.loader(threads=2), threading.Event()

        def look():
            looks = 0
            while not done.is_set():
                stats, state = loader.stats(), loader.state_dict()
                looks += stats['batches'] >= 0 and 'token' in state and len(loader) > 0
            return looks

        def give():
            try:
                return [digests(loader) for _ in range(10)][0]
            finally:
                done.set()
        first, *looks = at_once(give, look, look)
        self.assertEqual(first, digests(self.loader()))
        self.assertEqual(loader.stats()['held'], 0)

    def test_batches_go_where_other_threads_let_go_of_them(self):
        loader, given = self.loader(threads=2, prefetch=2), queue.Queue(4)

        def give():
            try:
                for _ in range(20):
                    for batch in loader:
                        given.put((batch.ids.copy(), batch['label'], batch))
            finally:
                for _ in range(3):
                    given.put(None)

        def take():
            wrong = 0
            while (item := given.get()) is not None:
                ids, labels, batch = item
                wrong += not (ids == batch.ids).all() or labels.tolist() != batch['label'].tolist()
            return wrong
        self.assertEqual(at_once(give, take, take, take)[1:], [0] * 3)
        self.assertEqual(loader.stats()['held'], 0)

    def test_functions_that_fail_at_the_same_time(self):
        for _ in range(20):
            loader = self.loader(Function(odd, {'x': 'uint8'}), threads=4)
            with self.assertRaisesRegex(ValueError, r'^record \d+ is odd$'):
                next(iter(loader))


if __name__ == '__main__':
    main()
