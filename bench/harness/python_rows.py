"""The rows of bench/results/python.json: what is compared with what."""
from harness import loader_prepare
from harness.entrants import (CEILING, OURS, PEER, ROOT, Process, Served, ServedPeer, ServedProgram,
                              Setting, Unavailable, python_of)
from harness.loader_rows import CIFAR, CROP, LOADER, cifar_peers, crop_peers
from harness.measure import Row
from harness.records_prepare import run_quietly

SCRIPT = ROOT / 'bench' / 'python' / 'recpack_io_bench.py'
BARE = ROOT / 'build' / 'python' / 'bare' / 'bin' / 'python'  # tests/python/environments.sh makes it,
SITE = ROOT / 'build' / 'python' / 'site'  # and this, for the environments of others
CIFAR_SAMPLES = '614400'  # of a repetition, as bench/python/recpack_io_bench.py has it
SAMPLE = '{work}/loader/sample'
OF_CPP = 0.95  # the ratios of bench/loader.py hold within 5 %
NOT_TIMED = '; import os; os._exit(0)'  # the end of the process
FIRST = '''
import sys, recpack_io
batch = next(iter(recpack_io.Loader(recpack_io.open(sys.argv[1]), 'cifar10-train', batch_size=128)))
batch['image'], batch['label']''' + NOT_TIMED


class OursInPython(Served):
    """A job of bench/python/recpack_io_bench.py."""

    def __init__(self, label: str, role: str, job: str, environment: str = ''):
        super().__init__(label, role)
        self.job, self.environment = job, environment

    def words(self, setting, cpus):
        if not BARE.exists():
            raise Unavailable('no wheel: bash tests/python/environments.sh')
        python = [str(BARE)]
        if self.environment:
            python = ['env', f'PYTHONPATH={SITE}', python_of(setting, self.environment)]
        return [*python, str(SCRIPT), self.job, '--data', str(setting.data), '--work',
                str(setting.work), '--threads', str(cpus), '--serve']


def torch(kind: str, label: str = 'recpack_io, PyTorch') -> OursInPython:
    return OursInPython(label, OURS, f'{kind}-torch', 'vision')


def numpy(kind: str) -> OursInPython:
    return OursInPython('recpack_io, NumPy', OURS, f'{kind}-numpy')


def cpp(*words: str) -> ServedProgram:
    return ServedProgram('the loader in C++', CEILING, [LOADER, 'rate', *words])


NOTE = 'the whole loop in Python, which takes arrays that its framework can use'
TARGETS = {CEILING: OF_CPP, f'recpack_io, NumPy against {CEILING}': OF_CPP}


def loading(_: Setting) -> list[Row]:
    tiled = 'recpack_io, PyTorch, tiled shards'
    return [Row('python-cifar', 'CIFAR-10 train recipe, f32', 0,
                [torch('cifar'), numpy('cifar'), cpp(CIFAR, '--samples', CIFAR_SAMPLES),
                 *cifar_peers()],
                {**TARGETS, PEER: 8 * OF_CPP}, note=NOTE),
            Row('python-crop', 'ImageNet train recipe, f32, antialias resize: real ImageNet photos',
                0, [torch('crop'), numpy('crop'), torch('crop-tile', tiled), cpp(SAMPLE, *CROP),
                    *crop_peers('sample', 'f32', 'antialias')],
                {**TARGETS, PEER: 1.2 * OF_CPP, f'{tiled} against {PEER}': 1.7 * OF_CPP}, note=NOTE)]


def access(_: Setting) -> list[Row]:
    return [Row('python-record', 'a random record of 3 KB', 0,
                [OursInPython('recpack_io', OURS, 'record'),
                 OursInPython('recpack_io, with its image as an array', OURS, 'feature'),
                 OursInPython('os.pread of it', CEILING, 'pread')], {CEILING: 0.5}, cpus=1,
                note='recpack_io finds it and checks its CRC'),
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
                 Process('import numpy', CEILING, [str(BARE), '-c', 'import numpy' + NOT_TIMED],
                         config='import numpy')], unit='ms',
                note='the aim is 150 ms')]


def prepare(setting: Setting, say) -> None:
    """Skips what is there already."""
    loader_prepare.prepare(setting, say, kinds=('sample',))
    if not (setting.work / 'out' / 'recpack-cifar').is_dir():
        say('packing CIFAR-10')
        recpack = setting.build / 'tools' / 'recpack' / 'recpack'
        run_quietly(setting, [str(recpack), 'pack', str(setting.data / 'cifar-10-batches-py'),
                              str(setting.work / 'out' / 'recpack-cifar'), '--from', 'cifar10',
                              '--splits', 'train,test', '--quiet'], say)


def all_rows(setting: Setting) -> list[Row]:
    return [row for group in (first, access, loading) for row in group(setting)]
