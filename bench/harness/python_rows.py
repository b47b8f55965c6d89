"""The rows of bench/results/python.json: what is compared with what."""
from harness import loader_prepare
from harness.entrants import (CEILING, OURS, PEER, ROOT, Process, Served, ServedPeer, ServedProgram,
                              Setting, Unavailable, python_of)
from harness.loader_rows import CIFAR, CROP, LOADER, peer
from harness.measure import Row
from harness.records_prepare import run_quietly

SCRIPT = ROOT / 'bench' / 'python' / 'recpack_io_bench.py'
BARE = ROOT / 'build' / 'python' / 'bare' / 'bin' / 'python'  # tests/python/run.sh makes it,
SITE = ROOT / 'build' / 'python' / 'site'  # and this, for the environments of others
FIRST = '''
import sys, recpack_io
batch = next(iter(recpack_io.Loader(recpack_io.open(sys.argv[1]), 'cifar10-train', batch_size=128)))
batch['image'], batch['label']
'''


class OursInPython(Served):
    """A job of bench/python/recpack_io_bench.py."""

    def __init__(self, label: str, role: str, job: str, environment: str = ''):
        super().__init__(label, role)
        self.job, self.environment = job, environment

    def words(self, setting, cpus):
        if not BARE.exists():
            raise Unavailable('no wheel: bash tests/python/run.sh')
        python = [str(BARE)]
        if self.environment:
            python = ['env', f'PYTHONPATH={SITE}', python_of(setting, self.environment)]
        return [*python, str(SCRIPT), self.job, '--data', str(setting.data), '--work',
                str(setting.work), '--threads', str(cpus), '--serve']


def loading(_: Setting) -> list[Row]:
    def row(kind: str, title: str, data: list[str], peers: list) -> Row:
        return Row(f'python-{kind}', title, 0,
                   [OursInPython('recpack_io, PyTorch', OURS, f'{kind}-torch', 'vision'),
                    OursInPython('recpack_io, NumPy', OURS, f'{kind}-numpy'),
                    ServedProgram('C++', CEILING, [LOADER, 'rate', *data]), *peers],
                   {CEILING: 0.95, f'recpack_io, NumPy against {CEILING}': 0.95},
                   note='the whole loop in Python; the ceiling is the loader in C++')
    sample = '{work}/loader/sample'
    return [row('cifar', 'CIFAR-10 train recipe, f32', [CIFAR],
                [peer('tensorflow', 'tf', 'cifar'), peer('torch', 'vision', 'cifar')]),
            row('crop', 'ImageNet train recipe, f32: real ImageNet photos',
                [sample, *CROP],
                [peer('tensorflow', 'tf', 'crop-sample-f32-antialias'),
                 peer('torch', 'vision', 'crop-sample-f32-antialias')])]


def access(_: Setting) -> list[Row]:
    return [Row('python-record', 'a random record of 3 KB', 0,
                [OursInPython('recpack_io', OURS, 'record'),
                 OursInPython('os.pread of it', CEILING, 'pread')], {CEILING: 0.5}, cpus=1),
            Row('python-batch', 'batches of 128 random records of 3 KB', 0,
                [OursInPython('recpack_io', OURS, 'random-batches'),
                 ServedPeer('array_record', 'py', 'array_record', 'random-batches',
                            ('pack-cifar', 'array_record-cifar')),
                 ServedPeer('lance', 'py', 'lance', 'random-batches',
                            ('pack-cifar', 'lance-cifar'))], {PEER: 5})]


def first(_: Setting) -> list[Row]:
    return [Row('python-first', 'process start to the first batch, import included', 1,
                [Process('recpack_io', OURS, [str(BARE), '-c', FIRST, '{work}/out/recpack-cifar'],
                         config='import, open, Loader, next'),
                 Process('import numpy', CEILING, [str(BARE), '-c', 'import numpy'])], unit='ms',
                note='the aim is 150 ms')]


def prepare(setting: Setting, say) -> None:
    """Skips what is there already."""
    loader_prepare.prepare(setting, say, kinds=('sample',))
    if not (setting.work / 'out' / 'recpack-cifar').is_dir():
        recpack = setting.build / 'tools' / 'recpack' / 'recpack'
        run_quietly(setting, [str(recpack), 'pack', str(setting.data / 'cifar-10-batches-py'),
                              str(setting.work / 'out' / 'recpack-cifar'), '--splits', 'train,test',
                              '--quiet'], say)


def all_rows(setting: Setting) -> list[Row]:
    return [row for group in (loading, access, first) for row in group(setting)]
