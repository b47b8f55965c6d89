"""Shared parts of the peers' scripts: command line, timing, data, and the row that each prints.

    .venvs/py/bin/python bench/peers/peer_lance.py pack-cifar --data DIR --work DIR

A job is one repetition that can be run again and again. By default it is run once to warm up and
then --reps times, and one row is printed as a line of JSON:

    {"job", "peer", "version", "config", "reps", "seconds_median", "seconds_min", "seconds_max",
     "records", "bytes", "rate"}             rate: records a second, of the median

--once runs it a single time with no warm-up: for whole processes that the caller times.
--first takes the first batch that a loader gives, and nothing more: for start-up, which the caller times.
--serve runs it once for each line on stdin and prints {"seconds", "records", "bytes"} each time,
so that bench/records.py can let programs take turns while each keeps its warm state.
Where a peer has several configurations, they are compared first, except by --once and --first.
"""
import argparse
import dataclasses
import functools
import gc
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import pickle
import random
import shutil
import statistics
import sys
import time
from typing import Callable, Iterable, Iterator

RANDOM_BATCHES, RANDOM_BATCH = 8, 128
RANDOM_ITEMS = 1000
ALL = slice(None)
CIFAR_FILES = [f'data_batch_{i}' for i in range(1, 6)] + ['test_batch']
# As the widespread conversion script cuts them.
CIFAR_SPLITS = {'train': CIFAR_FILES[:4], 'validation': CIFAR_FILES[4:5], 'eval': CIFAR_FILES[5:]}


@dataclasses.dataclass
class Job:
    """One way to run a peer: what is repeated, and the settings that matter."""
    run: Callable[[], tuple[int, int]]  # one repetition: records and payload bytes handled
    config: str = ''
    settle: Callable[[], object] = lambda: None  # before each repetition, outside the time
    first: Callable[[], int] | None = None  # of a loader: takes a batch, returns its samples
    trial: Callable[[], object] | None = None  # a shorter repetition, by which it is compared with others


@dataclasses.dataclass
class Context:
    """The command line of a peer's script."""
    data: pathlib.Path  # source data: cifar-10-batches-py/, cifar10-jpeg/, imagenet-sample/
    work: pathlib.Path  # everything that is made from it
    threads: int
    tries: bool = True  # whether there is time to compare configurations before

    @property
    def images(self) -> pathlib.Path:
        """The folder of many small files: 60,000 JPEG files in class folders."""
        return self.data / 'cifar10-jpeg'

    def shards(self, kind: str) -> list[str]:
        """TFRecord shards that all TFRecord readers read: kind is 'cifar' or 'photo'."""
        found = sorted(str(p) for p in (self.work / 'shards' / kind).glob('*.tfrecord'))
        if not found:
            raise SystemExit(f'no {self.work}/shards/{kind}: run peer_tensorflow.py prepare')
        return found

    def fresh(self, name: str) -> pathlib.Path:
        """An empty folder for a peer's output."""
        path = self.work / 'out' / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def made(self, name: str) -> pathlib.Path:
        """A folder that an earlier pack job of the same peer made."""
        path = self.work / 'out' / name
        if not path.is_dir():
            raise SystemExit(f'{path} is missing: run the pack job of this peer first')
        return path


def fastest(context: Context, way: Callable[..., Job], *axes: Iterable) -> Job:
    """The fastest of a peer's configurations `way(a value of each axis)`: axis by axis, with what is best so
    far of the other axes, by the shorter of two trials. The first ones where there is no time for that."""
    @functools.cache
    def seconds(*choice: int) -> float:
        job = way(*(axis[i] for axis, i in zip(values, choice)))
        trial = job.trial or job.run
        (job.first or trial)()
        times = []
        for _ in range(2):
            job.settle()
            start = time.perf_counter()
            trial()
            times.append(time.perf_counter() - start)
        del job, trial
        gc.collect()  # ends its workers
        return min(times)

    values = [list(axis) for axis in axes]
    best = [0 for _ in values]
    if context.tries:
        for at, axis in enumerate(values):
            best[at] = min(range(len(axis)), key=lambda i, at=at: seconds(*best[:at], i, *best[at + 1:]))
    job = way(*(axis[i] for axis, i in zip(values, best)))
    tried = seconds.cache_info().currsize
    return dataclasses.replace(job, config=f'{job.config}; the fastest of {tried}') if tried else job


def read_batch(path: pathlib.Path):
    """Rows (n, 3072) uint8 and labels of one CIFAR-10 pickle."""
    with open(path, 'rb') as file:
        batch = pickle.load(file, encoding='bytes')
    return batch[b'data'], batch[b'labels']


def cifar_rows(context: Context, part: slice = ALL) -> Iterator[tuple[bytes, int]]:
    """(3072 bytes, label) of all 60,000 rows, or of a part of the files."""
    for name in CIFAR_FILES[part]:
        rows, labels = read_batch(context.data / 'cifar-10-batches-py' / name)
        for row, label in zip(rows, labels):
            yield row.tobytes(), label


def image_paths(folder: pathlib.Path) -> list[tuple[str, int]]:
    """(path, class) of SPLIT/CLASS/* or CLASS/* below a folder, classes numbered by name."""
    paths = sorted(p for p in folder.rglob('*') if p.suffix.lower() in ('.jpg', '.jpeg'))
    classes = {name: i for i, name in enumerate(sorted({p.parent.name for p in paths}))}
    return [(str(p), classes[p.parent.name]) for p in paths]


def files_of(folder: pathlib.Path, part: slice = ALL) -> Iterator[tuple[bytes, int]]:
    """(file's bytes, class) of a folder's pictures, in the order of their names."""
    for path, label in image_paths(folder)[part]:
        with open(path, 'rb') as file:
            yield file.read(), label


def image_files(context: Context, part: slice = ALL) -> Iterator[tuple[bytes, int]]:
    """Returns contents and labels of the many small files."""
    return files_of(context.images, part)


def in_processes(context: Context, write: Callable[[int, slice], int]) -> int:
    """The sum of write(i, the i-th part of the files), each part in a process of its own."""
    forked, count = multiprocessing.get_context('fork'), context.threads
    written = forked.SimpleQueue()

    def work(i: int) -> None:
        written.put(write(i, slice(i, None, count)))
    workers = [forked.Process(target=work, args=(i,)) for i in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit('a process that writes a part of the data failed')
    return sum(written.get() for _ in workers)


def tree_bytes(path: pathlib.Path) -> int:
    """Bytes of all files below a folder."""
    return sum(p.stat().st_size for p in path.rglob('*') if p.is_file())


def random_ordinals(count: int, records: int, seed: int = 7) -> list[int]:
    """The same keyed draw for every peer."""
    draw = random.Random(seed)
    return [draw.randrange(records) for _ in range(count)]


def random_batches_of(records: int, batches: int = RANDOM_BATCHES, seed: int = 8) -> list[list[int]]:
    """The same for every peer; no record twice in a batch, and in order, as some peers want it."""
    draw = random.Random(seed)
    return [sorted(draw.sample(range(records), RANDOM_BATCH)) for _ in range(batches)]


def random_items(data, records: int, how: str = 'dataset[i]') -> Job:
    """Reads random records one by one, dataset[i], of a data set without calls for many at once."""
    ordinals = random_ordinals(RANDOM_ITEMS, records)

    def run():
        return len(ordinals), sum(len(data[ordinal]['image']) for ordinal in ordinals)
    return Job(run, how)


def random_batches_of_items(data, records: int, how: str = 'dataset[i]') -> Job:
    """The same in batches."""
    batches = random_batches_of(records)

    def run():
        return RANDOM_BATCHES * RANDOM_BATCH, sum(len(data[ordinal]['image']) for batch in batches for ordinal in batch)
    return Job(run, f'{how}, {RANDOM_BATCH} times')


def version_of(*packages: str) -> str:
    """'name version' of installed packages."""
    return ', '.join(f'{name} {importlib.metadata.version(name)}' for name in packages)


def summary(job: str, peer: str, version: str, config: str, samples: list[tuple]) -> dict:
    """The row of some repetitions, each (seconds, records, bytes)."""
    seconds = [s for s, _, _ in samples]
    median = statistics.median(seconds)
    _, records, size = samples[-1]
    return dict(job=job, peer=peer, version=version, config=config, reps=len(seconds),
                seconds_median=median, seconds_min=min(seconds), seconds_max=max(seconds),
                records=records, bytes=size, rate=records / median)


def main(peer: str, version: str, jobs: dict[str, Callable[[Context], Job]]) -> None:
    """Runs the job that the command line names."""
    parser = argparse.ArgumentParser(description=f'{peer}, run for the benches')
    parser.add_argument('job', choices=sorted(jobs))
    parser.add_argument('--data', type=pathlib.Path, required=True)
    parser.add_argument('--work', type=pathlib.Path, required=True)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--reps', type=int, default=5)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument('--once', action='store_true')
    mode.add_argument('--first', action='store_true')
    mode.add_argument('--serve', action='store_true')
    options = parser.parse_args()

    tries = not (options.once or options.first)
    job = jobs[options.job](Context(options.data, options.work, options.threads, tries))

    def repeat() -> tuple[float, int, int]:
        job.settle()
        start = time.perf_counter()
        records, size = job.run()
        return time.perf_counter() - start, int(records), int(size)

    def say(row: dict) -> None:
        print(json.dumps(row), flush=True)

    if options.first:
        say(dict(job=options.job, peer=peer, version=version, config=job.config, samples=job.first()))
    elif options.serve:
        say(dict(peer=peer, version=version, config=job.config))
        for _ in sys.stdin:
            say(dict(zip(('seconds', 'records', 'bytes'), repeat())))
    else:
        if not options.once:
            repeat()
        samples = [repeat() for _ in range(1 if options.once else options.reps)]
        say(summary(options.job, peer, version, job.config, samples))
    # Some peers' threads outlive their work by seconds: whole processes are timed without that.
    sys.stdout.flush()
    os._exit(0)
