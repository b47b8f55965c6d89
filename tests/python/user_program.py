"""A user's program for `mypy --strict` on the wheel: it must find the marked faults, and no others.

A mark that is not needed is an error too, so what came out as Any would show.
"""
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import recpack_io
from recpack_io import loading

dataset: recpack_io.Dataset = recpack_io.open('shards', split='train', fields={'image': 'jpg;jpeg'})
count: int = len(dataset)
version: str = recpack_io.__version__
recpack_io.version  # type: ignore[attr-defined]
labels: list[int] = [int(record['label'][0]) for record in dataset]
several: list[str] = [name for record in dataset[10:20] for name in record.keys()]
scattered: int = dataset[[5, 3, 8]][0].id
raw: npt.NDArray[np.uint8] = dataset[-1].raw
kinds: dict[str, str] = {name: feature.kind for name, feature in dataset.schema.items()}

loader = recpack_io.Loader(
    dataset, batch_size=64, rank=0, world_size=1, max_live_batches=8,
    fields=[recpack_io.Image(height=128, width=128, type='f16'), recpack_io.Numbers('label')])
loader.load_state_dict(recpack_io.Loader(dataset, 'imagenet-train').state_dict())
steps: int = len(loader)
for epoch in range(90):
    loader.set_epoch(epoch)
    for batch in loader:
        images: npt.NDArray[np.float16] = batch['image']
        mean: float = float(images.mean())
        first: int = int(batch.ids[0]) + batch.epoch + batch.number + len(batch)
        shapes: dict[str, tuple[int, ...]] = {name: array.shape for name, array in batch.items()}
seconds: float = loader.stats()['seconds']

train, rest = dataset.filter(label=[3, 5]).random_split(0.9, seed=1)
kept: npt.NDArray[np.uint64] = dataset.filter(lambda record: record.id > 3).ids
dataset.subset(numbers=[1], seed=2)  # type: ignore[call-arg]
weighted: recpack_io.View = train.weighted(1 / np.bincount(train.column('label')), epoch_samples=50)
mixture = recpack_io.Mixture([(weighted, 0.7), (rest.balanced('label'), 0.3)], period=10)
mixed = recpack_io.Loader(mixture, 'cifar10-train', audit_counts=True)
recpack_io.Loader(train, 'cifar10-train', subset=[1, 2], balanced='label')
by_path = recpack_io.Loader('shards', 'cifar10-eval', split='eval', order=('window', 10, 64, 2))
by_path.save_state('state.json')
begun: bool = by_path.load_state('state.json', missing_ok=True)
both: recpack_io.AuditReport = mixed.audit().merge(mixed.audit()).check(mixture)
columns: recpack_io.PackResult = recpack_io.pack({'image': raw, 'label': labels}, 'columns')
complete: bool = mixed.audit().check(mixture).complete
replaced: list[int] = [each.bad for each in mixed.substitutions()]


def boxes(sample: recpack_io.Sample) -> dict[str, npt.NDArray[np.float64]]:
    return {'boxes': sample.rng.normal(sample.seed + sample.id, size=4)}


def mix(batch: recpack_io.BatchArrays) -> None:
    batch['image'][:] *= batch.rng.random() + len(batch.ids) + batch.epoch


with_functions = recpack_io.Loader(
    dataset, workers=2, multiprocessing_context='spawn',
    fields=[recpack_io.Image(then=str, result=('uint8', 3)),
            recpack_io.Function(boxes, {'boxes': ('float32', 4)}, image=recpack_io.Image()),
            recpack_io.Audio(length=16000, crop='random'), recpack_io.Audio(length=9, then=str, result=('uint8', 3)),
            recpack_io.Function(boxes, {'boxes': ('float32', 4)}, audio=recpack_io.Audio(length=9)),
            recpack_io.MultiHot('tags', ['cat', 'dog'], separator='|', type='u8'), recpack_io.MultiHot('ids', classes=9)],
    batch_functions=[mix, recpack_io.BatchFunction(mix, stream=1)])
with_functions.close()


def records() -> Iterator[dict[str, object]]:
    yield {'image': b'', 'label': 3}


with recpack_io.Writer('part.tfrecord', compression='gzip') as writer:
    for each in records():
        writer.write(each)
packed: int = recpack_io.pack(records(), 'shards', progress=print, class_names=['cat']).records

try:
    dataset[0]
except recpack_io.CorruptError as error:
    where: tuple[str | None, int | None] = (error.path, error.offset)

dataset['train']  # type: ignore[index]
loader.set_epoch('first')  # type: ignore[arg-type]
batch['image'].no_array_has_this  # type: ignore[attr-defined]
recpack_io.Loader(dataset, max_live_batches='8')  # type: ignore[arg-type]
recpack_io.Loader(dataset, batches=8)  # type: ignore[call-arg]
size: str = batch.epoch  # type: ignore[assignment]
recpack_io.Function(boxes, ['boxes'])  # type: ignore[arg-type]
loading.nothing_of_this_name  # type: ignore[attr-defined]
