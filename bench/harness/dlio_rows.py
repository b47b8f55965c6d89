"""The workloads of bench/dlio.py, and the loaders that it compares in each. Settings are DLIO's, below `workload.`"""
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Loader:
    data: str  # folder that DLIO reads
    settings: dict = field(default_factory=dict)
    elsewhere: str = ''  # what ours reads instead: a folder beside it, or a URL of the object server

    @property
    def ours(self) -> bool:
        return 'reader.data_loader_classname' in self.settings


@dataclass(frozen=True)
class Workload:
    source: str
    configuration: str  # of those that dlio_benchmark brings
    step: float  # seconds of computing per batch of an accelerator
    files: int
    accelerators: tuple[int, ...]
    settings: dict
    loaders: dict[str, Loader]

    def settings_of(self, loader: Loader, share: int = 1) -> dict:
        """`share`: one file of so many is read."""
        files = {'dataset.num_files_train': self.files} | self.settings | loader.settings
        return files | {'dataset.num_files_train': max(1, files['dataset.num_files_train'] // share)}

    def generated(self) -> dict[str, Loader]:
        """The folders that DLIO generates, each with a loader that reads it."""
        return {loader.data: loader for loader in self.loaders.values() if not loader.ours}


OURS = {'reader.data_loader_classname': 'recpack_dlio.RecpackLoader', 'reader.data_loader_sampler': 'iterative'}
TORCH = {'framework': 'pytorch', 'reader.data_loader': 'pytorch'}
TENSORFLOW = {'framework': 'tensorflow', 'reader.data_loader': 'tensorflow'}
TFRECORDS = 6
# DLIO's PyTorch loader reads no TFRecord files: as many samples, each in a file.
NPZ = {'dataset.format': 'npz', 'dataset.num_samples_per_file': 1, 'dataset.num_files_train': TFRECORDS * 1251}

RESNET50 = Workload(
    source='resnet50_h100 of dlio_benchmark 2.0.0, as it is; there 1024 files of 1251 samples',
    configuration='resnet50_h100', step=0.224, files=TFRECORDS, accelerators=(1, 2, 4), settings={},
    loaders={'recpack, TFRecord': Loader('tfrecord', OURS),
             'recpack, TFRecord, object store': Loader('tfrecord', OURS, elsewhere='s3://tfrecord/train'),
             'DLIO, tf.data, TFRecord': Loader('tfrecord'),
             'DLIO, PyTorch, npz': Loader('npz', TORCH | NPZ)})

JPEG = {'model': 'retinanet', 'workflow.evaluation': False, 'dataset.format': 'jpeg', 'dataset.num_files_eval': 0,
        'dataset.num_subfolders_train': 0, 'dataset.num_subfolders_eval': 0, 'dataset.num_samples_per_file': 1,
        'reader.file_shuffle': 'seed', 'reader.sample_shuffle': 'seed'}
RETINANET = Workload(
    source='retinanet_h100 of mlcommons/storage (MLPerf Storage), whose values are given to dlio_benchmark 2.0.0, which has '
           'none; there 1,743,042 files of 154 kB. Version 2.0.0 makes JPEG files of record_length gray pixels, and decodes '
           'them: 524 x 524 pixels come to that size',
    configuration='default', step=0.18, files=1600, accelerators=(1, 2, 4),
    settings=JPEG | {'dataset.record_length': 524 * 524, 'reader.batch_size': 16},
    loaders={'recpack, JPEG files': Loader('jpeg', TORCH | OURS),
             'recpack, shards': Loader('jpeg', TORCH | OURS, elsewhere='shards'),
             'recpack, shards, object store': Loader('jpeg', TORCH | OURS, elsewhere='s3://shards'),
             'DLIO, tf.data, JPEG files': Loader('jpeg', TENSORFLOW),
             'DLIO, PyTorch, JPEG files': Loader('jpeg', TORCH)})
RETINANET_B200 = replace(
    RETINANET, source='the same of retinanet_b200: an accelerator computes 5.7 times as fast; 322,957 pixels, about 180 kB',
    step=0.04755, files=1920, accelerators=(1,),
    settings=JPEG | {'dataset.record_length': 322957, 'reader.batch_size': 24})

WORKLOADS = {'resnet50': RESNET50, 'retinanet': RETINANET, 'retinanet_b200': RETINANET_B200}
