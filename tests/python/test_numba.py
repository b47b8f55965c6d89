"""Functions that Numba compiled: with nogil=True they run at the same time, on the loader's threads."""
import ctypes
import threading

import numba
import numpy as np
import recpack_io
from support import InFolder, main

libc = ctypes.CDLL(None)
wait_at = libc.pthread_barrier_wait
wait_at.argtypes, wait_at.restype = [ctypes.c_void_p], ctypes.c_int


@numba.njit(nogil=True)
def meet(barrier):
    """Returns when another thread does the same: none can while this one holds the interpreter's lock."""
    return wait_at(barrier)


@numba.njit(nogil=True)
def squares(values, out):
    for i in range(len(values)):
        out[i] = values[i] * values[i]


class Compiled(InFolder):
    def setUp(self):
        super().setUp()
        recpack_io.pack(({'values': np.arange(4, dtype='f4') + i} for i in range(64)), self.folder / 'shards')
        self.dataset = recpack_io.open(self.folder / 'shards')

    def test_results(self):
        def function(sample):
            out = np.empty(4, np.float32)
            squares(sample['values'], out)
            return {'squares': out}
        field = recpack_io.Function(function, {'squares': ('float32', 4)})
        for batch in recpack_io.Loader(self.dataset, fields=[field], batch_size=16, order='sequential'):
            np.testing.assert_array_equal(batch['squares'], [(np.arange(4) + i) ** 2 for i in batch.ids.tolist()])

    def test_two_threads_at_the_same_time(self):
        barrier = ctypes.create_string_buffer(64)
        libc.pthread_barrier_init(barrier, None, 2)
        address, mine = ctypes.addressof(barrier), threading.local()
        meet.compile('(intp,)')
        met = []

        def function(sample):
            if not hasattr(mine, 'met'):  # once on each thread
                mine.met = True
                met.append(meet(address))
            return {'id': sample.id}
        field = recpack_io.Function(function, {'id': 'int64'})
        ids = [batch['id'].tolist() for batch in recpack_io.Loader(self.dataset, fields=[field], batch_size=8, threads=2)]
        self.assertEqual(sorted(sum(ids, [])), list(range(64)))
        self.assertEqual(len(met), 2)


if __name__ == '__main__':
    main()
