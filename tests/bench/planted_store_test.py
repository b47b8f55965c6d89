"""recprobe names what an object store is waited for. bench/probe/planted.py measures how well it tells the gain."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'bench/probe'), str(ROOT / 'tests/cli')]
from figures_of_time import judges_time  # noqa: E402
from planting import cases, trainings  # noqa: E402
from planting.programs import Programs  # noqa: E402

STRENGTH = 0.75  # the cause stays the largest wherever the processors are slow
INPUT_BOUND = ('moderately input-bound', 'highly input-bound')


class PlantedStore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        work = pathlib.Path(tempfile.mkdtemp(prefix='recpack-planted-'))
        cls.addClassCleanup(shutil.rmtree, work, ignore_errors=True)
        cls.programs = Programs(pathlib.Path(os.environ['RECPACK_BUILD']), work, work, photos=40)
        cls.addClassCleanup(cls.programs.close)

    def said(self, cause, strength=STRENGTH, step_ms=20.0, steps=170):  # an epoch, nearly
        return self.programs.watch(cases.Case(f'store: {cause}', strength, 'sim', 1, step_ms, seed=1,
                                              fixed_steps=steps))['said']

    def check(self, cause, says, **case):
        said = self.said(cause, **case)
        self.assertEqual(said['bottleneck'], f'storage: {cause.replace("-", " ")}', said)
        self.assertGreater(said['input_share']['value'], 0.1, said)
        evidence = ' '.join(said['evidence'])
        for text in (says, 'requests of', 'without ', 'steps/s'):
            self.assertIn(text, evidence)
        self.assertIn('RECPACK_CACHE_BYTES', said['cure'])

    @judges_time
    def test_nothing(self):
        said = self.said('none', strength=0)
        self.assertNotIn(said['verdict'], INPUT_BOUND, said)

    @judges_time
    def test_answers_that_begin_late(self):
        self.check('latency', 'waits for the first byte', strength=0.5)

    @judges_time
    def test_a_slow_link(self):
        self.check('bandwidth', 'waits for bytes under way')

    @judges_time
    def test_a_store_that_wants_fewer_requests(self):
        self.check('throttled', 'with 429 or 503', strength=0.5)

    def test_a_perfect_input_asks_the_store_for_no_record(self):
        case = cases.Case('store: none', 0, 'sim', 1, 5.0, seed=1, fixed_steps=100).without()
        store = self.programs.of(case)
        environment = store.environment(case)
        before = len(store.server.requests)
        trainings.run(store.command(case), environment)
        asked = [path for _, path, part in store.server.requests[before:] if part and path.endswith('.tfrecord')]
        self.assertLess(len(asked), 10, 'for 800 records')  # the cache has an epoch but for its last batch

    @judges_time
    def test_a_cache_that_is_too_small(self):
        self.check('cache-misses', 'the cache on the disk is full', steps=0)  # epochs of them


if __name__ == '__main__':
    unittest.main()
