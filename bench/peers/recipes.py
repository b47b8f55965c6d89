"""The recipes that loaders are compared on, and where their data lies.

`cifar`: global shuffle, pad 4 and crop 32, flip, normalise, f32, batches of 512; `cifar-u8` leaves
the pixels as they are, which is how a trainer on a GPU would have them.
`crop`: random-resized-crop to 224, flip, batches of 128; f32 normalised, or u8 as it is; the
resize with antialias or without. Job names: crop-KIND-TYPE-FILTER, KIND photos (many distinct
files), sample (few, real ones) or sample-375 (these, made small before), TYPE f32 or u8, FILTER
antialias or plain.

Each gives its batches in the layout that it is fastest in; `config` says which.
"""
import dataclasses
import itertools
import pathlib
from typing import Callable, Iterable

from common import Context, Job

CIFAR_BATCH, CROP_BATCH = 512, 128
CIFAR_SAMPLES, CROP_SAMPLES = 51_200, 3_072  # of a repetition
SIDE = 224
SHRUNK = 'sample-375'
AREA, ASPECT = (0.08, 1.0), (0.75, 4 / 3)

# For values 0 to 255.
CIFAR_MEAN, CIFAR_STD = (125.3, 123.0, 113.9), (63.0, 62.1, 66.7)
IMAGENET_MEAN, IMAGENET_STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


@dataclasses.dataclass
class Crop:
    """One job of the crop recipe."""
    context: Context
    kind: str
    floats: bool
    antialias: bool

    @property
    def shards(self) -> list[str]:
        return sorted(map(str, (self.context.work / 'loader' / self.kind).glob('*.tfrecord')))

    @property
    def indexes(self) -> list[str]:
        """Returns the paths of DALI's indexes, beside the shards."""
        return [name + '.idx' for name in self.shards]

    @property
    def files(self) -> pathlib.Path:
        return self.context.work / self.kind

    @property
    def tar(self) -> str:
        return str(self.context.work / 'loader' / f'{self.kind}.tar')

    @property
    def words(self) -> str:
        """What this job is, for the results."""
        return f"{'f32 normalised' if self.floats else 'u8'}, batch {CROP_BATCH}"


def crop_jobs(make: Callable[[Crop], Job], types: Iterable[str] = ('f32', 'u8')) -> dict:
    """A job for each kind, type and filter."""
    def job(kind: str, dtype: str, resize: str):
        return lambda c: make(Crop(c, kind, dtype == 'f32', resize == 'antialias'))
    return {f'crop-{kind}-{dtype}-{resize}': job(kind, dtype, resize)
            for kind, dtype, resize in itertools.product(
                ('photos', 'sample', SHRUNK), types, ('antialias', 'plain'))}


def made_once(path: pathlib.Path, write: Callable[[pathlib.Path], object]) -> pathlib.Path:
    """What a loader reads, in its own format: `write(part)` makes a file or folder that then gets its name."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + '.part')
        write(part)
        part.rename(path)
    return path


def sizes(loader) -> Callable[[], Iterable[int]]:
    """The size of each batch (image, label) as it is taken."""
    def batches():
        for _, label in loader:
            yield len(label)
    return batches


def cifar_jobs(make: Callable[[Context, bool], Job]) -> dict:
    """`make(context, floats)` as the jobs cifar and cifar-u8."""
    return {'cifar': lambda c: make(c, True), 'cifar-u8': lambda c: make(c, False)}


def live(batches: Callable[[], Iterable[int]], samples: int, bytes_each: int, config: str,
         ahead: int) -> Job:
    """Takes samples from an iterator that goes on through all epochs.

    `batches` gives the sizes of an epoch's batches as they are taken. It reads ahead while others
    have their turn: `ahead` batches are used up before the time.
    """
    endless = itertools.chain.from_iterable(batches() for _ in itertools.count())

    def take(wanted: int) -> int:
        count = 0
        while count < wanted:
            count += next(endless)
        return count

    def run():
        count = take(samples)
        return count, count * bytes_each

    def settle():
        for _ in range(ahead):
            next(endless)
    return Job(run, config, settle, lambda: next(endless), lambda: take(samples // 4))


def live_crop(batches: Callable[[], Iterable[int]], crop: Crop, config: str, ahead: int) -> Job:
    size = 3 * SIDE * SIDE * (4 if crop.floats else 1)
    return live(batches, CROP_SAMPLES, size, f'{config}, {crop.words}', ahead)


def live_cifar(batches: Callable[[], Iterable[int]], config: str, ahead: int, floats: bool = True) -> Job:
    return live(batches, CIFAR_SAMPLES, (4 if floats else 1) * 3072,
                f"{config}, {'f32' if floats else 'u8'}, batch {CIFAR_BATCH}", ahead)
