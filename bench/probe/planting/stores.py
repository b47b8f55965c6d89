"""Trainings on shards in an object store on the loopback device, whose link is planted with a cause."""
import dataclasses
import os
import pathlib
import shutil
import sys

from .cases import Case
from .trainings import Program, Trainer, run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / 'tests/cli'))
from object_server import ObjectServer  # noqa: E402
from planted_link import Link  # noqa: E402

BATCH = 8  # of planted_trainer
AT_ONCE = 32  # requests that are answered at a time; the client has up to 256 under way
# More than a run without ends of epochs reads, and reads ahead.
PHOTOS, ROWS = 2000, 1500
# Photos of 340 kB: much more than is fetched ahead (128 MiB), so that an epoch waits from beginning to end.
LARGE, LARGE_FILES = 1500, 50
SPARSE = 20_000  # rows, of which so few are announced that they are seldom neighbours, which are one request
RECORDS = {'photos': PHOTOS, 'large': LARGE, 'rows': ROWS, 'sparse': SPARSE}
KEPT = 0.3  # share of the data that fits into the cache which is too small


class Store(Program):
    """Planted: answers that begin late, a slow link, 503s, or a cache that is too small. Without it: a perfect input,
    the same store without any of these and the data in the cache (a server in Python makes the first steps wait)."""

    def __init__(self, build: pathlib.Path, work: pathlib.Path):
        recpack, self.folder = build / 'tools/recpack/recpack', work / 'store'
        trainer, made = build / 'tests/bench/planted_trainer', self.folder / 'made'
        (self.folder / 'bucket').mkdir(parents=True)
        run([trainer, made / 'photos', '--photos', PHOTOS])
        run([recpack, 'pack', made / 'photos', self.folder / 'bucket/photos', '--no-sync'])
        run([trainer, made / 'large', '--photos', LARGE_FILES, '--height', 800])
        for i in range(LARGE_FILES, LARGE):
            os.link(made / f'large/photo/{i % LARGE_FILES}.jpg', made / f'large/photo/{i}.jpg')
        run([recpack, 'pack', made / 'large', self.folder / 'bucket/large', '--no-sync'])
        for name, rows in (('rows', ROWS), ('sparse', SPARSE)):
            run([recpack, 'stand-in', made / name, '--kind', 'cifar10', '--rows', rows // 5, '--seed', 5])
            run([recpack, 'pack', made / name, self.folder / 'bucket' / name, '--no-sync'])
        shutil.rmtree(made)
        self.server = ObjectServer(self.folder)
        self.trainers = {name: Trainer(build, work, f's3://bucket/{name}') for name in ('photos', 'large', 'rows', 'sparse')}

    def close(self) -> None:
        self.server.close()

    def data(self, case: Case) -> str:
        # Bytes of larger records are long under way on a slow link.
        return {'bandwidth': 'photos', 'cache-misses': 'large', 'latency': 'sparse',
                'throttled': 'sparse'}.get(case.of.cause, 'rows')

    def bytes_of(self, name: str) -> int:
        return sum(path.stat().st_size for path in (self.folder / 'bucket' / name).glob('train-*.tfrecord'))

    def filling_steps(self, case: Case) -> int:
        """Steps that bring all into the cache that a run reads, also ahead."""
        return min(RECORDS[self.data(case)] // BATCH, 2 * case.steps())

    def link(self, case: Case) -> Link:
        """Returns the link of the planted store."""
        cause = case.of.cause
        if cause == 'none':
            return Link()
        samples = BATCH * (1 - case.strength) * 1e3 / case.step_ms  # a second, that the trainer gets
        if cause == 'latency':
            return Link(delay=AT_ONCE / samples, at_once=AT_ONCE)
        if cause in ('bandwidth', 'cache-misses'):
            name, fetched = self.data(case), 1 - KEPT if cause == 'cache-misses' else 1
            return Link(bytes_per_second=fetched * samples * self.bytes_of(name) / RECORDS[name])
        return Link(requests_per_second=samples)

    def environment(self, case: Case) -> dict[str, str]:
        """Plants the cause; returns the environment of a run."""
        cache, size = self.folder / 'cache', self.bytes_of(self.data(case))
        self.server.link = Link()
        shutil.rmtree(cache, ignore_errors=True)
        given = {**os.environ, **self.server.environment(), 'RECPACK_CACHE': str(cache)}
        given.pop('RECPACK_CACHE_BYTES', None)
        missed = case.of.cause == 'cache-misses'
        if case.removed or missed:
            given['RECPACK_CACHE_BYTES'] = str(4 * size if case.removed else round(KEPT * size))
            filling = dataclasses.replace(case.quick(self.filling_steps(case)), removed=False)
            if missed:  # in another order: the first part of this one would come from it, and the rest would not
                filling = dataclasses.replace(filling, seed=case.seed + 1)
            run(self.trainers[self.data(case)].command(filling), given)
        if not case.removed:
            self.server.link = self.link(case)
        return given

    def command(self, case: Case) -> list:
        return self.trainers[self.data(case)].command(case)

    def result(self, stdout: str) -> dict:
        return self.trainers['photos'].result(stdout)

    def time(self, case: Case) -> dict:
        environment = self.environment(case)
        return self.result(run(self.command(case), environment))
