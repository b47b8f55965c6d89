"""The loader of examples/dlio under a stand-in of dlio_benchmark: bench/dlio.py has it in the real one."""
import enum
import os
import pathlib
import sys
import types
from unittest import mock

import numpy as np
import recpack_io
from png_files import png
from support import InFolder, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE, FILES, PER_FILE, BATCH, SIDE = 100, 2, 30, 8, 24


class DatasetType(enum.Enum):
    TRAIN = 'train'
    VALID = 'valid'


class FormatType(enum.Enum):
    TFRECORD = 'tfrecord'
    JPEG = 'jpeg'
    PNG = 'png'
    NPZ = 'npz'


class Shuffle(enum.Enum):
    OFF = 'off'
    SEED = 'seed'


class BaseDataLoader:
    """As DLIO's: takes what it needs from the settings of the process."""

    settings = None

    def __init__(self, format_type, dataset_type, epoch_number, data_loader_type):
        self._args, self.dataset_type, self.format_type = self.settings, dataset_type, format_type
        self.num_samples, self.batch_size = FILES * PER_FILE, BATCH


def stand_in():
    """Modules by name, as DLIO's loaders import them."""
    names = ('dlio_benchmark', 'dlio_benchmark.common', 'dlio_benchmark.common.enumerations',
             'dlio_benchmark.data_loader', 'dlio_benchmark.data_loader.base_data_loader')
    modules = {name: types.ModuleType(name) for name in names}
    for each in DatasetType, FormatType, Shuffle:
        setattr(modules[names[2]], each.__name__, each)
    modules[names[4]].BaseDataLoader = BaseDataLoader
    return modules


class Dlio(InFolder):
    def setUp(self):
        super().setUp()
        self.images = [bytes([n]) * SIZE for n in range(FILES * PER_FILE)]
        records = [{'image': image, 'size': 10} for image in self.images]
        recpack_io.pack(records, self.folder / 'data', shard_bytes=PER_FILE * 150)
        files = sorted(map(str, (self.folder / 'data').glob('*.tfrecord')))
        self.assertGreater(len(files), 1)
        BaseDataLoader.settings = types.SimpleNamespace(
            file_list_train=files, file_list_eval=[], seed=1, my_rank=0, comm_size=1, read_threads=2, prefetch_size=2,
            sample_shuffle=Shuffle.OFF, max_dimension=SIDE)
        modules = mock.patch.dict(sys.modules, stand_in())
        modules.start()
        self.addCleanup(modules.stop)
        sys.modules.pop('recpack_dlio', None)
        with mock.patch.object(sys, 'path', [str(ROOT / 'examples/dlio'), *sys.path]):
            import recpack_dlio
        self.module = recpack_dlio

    def loader(self, format_type=FormatType.TFRECORD, **settings):
        BaseDataLoader.settings.__dict__.update(settings)
        loader = self.module.RecpackLoader(format_type, DatasetType.TRAIN, 1)
        loader.read()
        return loader

    def pictures(self):
        """Makes DLIO's files of gray images, each of another gray; returns their paths."""
        folder = self.folder / 'images' / 'train'
        folder.mkdir(parents=True)
        for n in range(FILES * PER_FILE):
            (folder / f'img_{n:02}_of_60.png').write_bytes(png(np.full((SIDE, SIDE), 4 * n, np.uint8)))
        return sorted(map(str, folder.iterdir()))

    def grays(self, loader):
        """The first pixels of an epoch's images."""
        images = self.epoch(loader)
        self.assertEqual({len(image) for image in images}, {SIDE * SIDE})
        return [image[0] for image in images]

    def epoch(self, loader):
        """What DLIO does: it leaves its loop at the last step."""
        steps, taken = FILES * PER_FILE // BATCH // BaseDataLoader.settings.comm_size, []
        for batch in loader.next():
            taken.append(np.array(batch))
            if len(taken) == steps:
                break
        loader.finalize()
        return [bytes(image) for batch in taken for image in batch]

    def test_an_epoch_has_the_records_in_order(self):
        loader = self.loader()
        whole = self.images[:len(self.images) // BATCH * BATCH]
        for _ in range(3):
            self.assertEqual(self.epoch(loader), whole)

    def test_shuffled_epochs_differ(self):
        loader = self.loader(sample_shuffle=Shuffle.SEED)
        first, second = self.epoch(loader), self.epoch(loader)
        self.assertNotEqual(first, second)
        self.assertEqual(len(set(first)), len(first))

    def test_ranks_have_different_records(self):
        taken = [self.epoch(self.loader(my_rank=rank, comm_size=2)) for rank in range(2)]
        self.assertFalse(set(taken[0]) & set(taken[1]))

    def test_the_data_may_lie_elsewhere(self):
        names = [f'/none/{os.path.basename(file)}' for file in BaseDataLoader.settings.file_list_train]
        with mock.patch.dict(os.environ, {'RECPACK_DLIO_DATA': str(self.folder / 'data')}):
            self.assertEqual(len(self.epoch(self.loader(file_list_train=names))), 56)

    def test_a_folder_of_images_is_decoded(self):
        loader = self.loader(FormatType.PNG, file_list_train=self.pictures())
        self.assertEqual(self.grays(loader), [4 * n for n in range(56)])

    def test_images_may_lie_elsewhere_in_shards(self):
        files = self.pictures()
        recpack_io.pack(os.path.dirname(files[0]), self.folder / 'shards')
        with mock.patch.dict(os.environ, {'RECPACK_DLIO_DATA': str(self.folder / 'shards')}):
            self.assertEqual(len(set(self.grays(self.loader(FormatType.PNG, file_list_train=files)))), 56)

    def test_too_few_samples_are_refused(self):
        files = BaseDataLoader.settings.file_list_train
        with self.assertRaisesRegex(ValueError, 'the workload 60'):
            self.loader(file_list_train=files[:1])

    def test_other_formats_are_refused(self):
        with self.assertRaisesRegex(ValueError, 'expected tfrecord, jpeg or png'):
            self.module.RecpackLoader(FormatType.NPZ, DatasetType.TRAIN, 1)


if __name__ == '__main__':
    main()
