"""The rows of bench/results/python.json: what is compared with what."""
from harness import loader_prepare
from harness.entrants import (OURS, PEER, REFERENCE, ROOT, PeerProcess, Process, Served, ServedPeer, ServedProgram,
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
batch = next(iter(recpack_io.Loader(recpack_io.open(sys.argv[1]), 'cifar10-train', batch_size=512)))
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
    return ServedProgram('the loader in C++', REFERENCE, [LOADER, 'rate', *words])


LIKE = 'recpack_io NCHW, peers as their config says; recpack_io and tensorflow check CRCs'
NOTE = 'the whole loop in Python, which takes arrays that its framework can use'
TARGETS = {REFERENCE: OF_CPP, f'recpack_io, NumPy against {REFERENCE}': OF_CPP}


def loading(_: Setting) -> list[Row]:
    tiled = 'recpack_io, PyTorch, tiled shards'
    return [Row('python-cifar', 'CIFAR-10 train recipe, f32', 0,
                [torch('cifar'), numpy('cifar'), cpp(CIFAR, '--samples', CIFAR_SAMPLES),
                 *cifar_peers()],
                {**TARGETS, PEER: 8 * OF_CPP},
                terms=f'60,000 × 3 KB, warm, 2 threads, batch 512, f32, {LIKE}; {NOTE}'),
            Row('python-crop', 'ImageNet train recipe, f32, antialias resize: real ImageNet photos',
                0, [torch('crop'), numpy('crop'), torch('crop-tile', tiled), cpp(SAMPLE, *CROP),
                    *crop_peers('sample', 'f32', 'antialias')],
                {**TARGETS, PEER: 1.2 * OF_CPP, f'{tiled} against {PEER}': 1.7 * OF_CPP},
                terms=f'160 photos, 16 times each, warm, 2 threads, batch 128, f32, {LIKE}; {NOTE}')]


def functions(_: Setting) -> list[Row]:
    def ours(label: str, job: str) -> OursInPython:
        return OursInPython(f'recpack_io, {label}', OURS, job, 'vision')
    recipe = 'recpack_io, its own recipe'
    peers = [each for each in crop_peers('sample', 'f32', 'antialias') if each.label in
             ('torch', 'mds', 'litdata', 'webdataset')]
    return [Row('python-function', "torchvision's transforms as the user's function: real ImageNet photos", 0,
                [ours("torchvision's transforms", 'torchvision-0'),
                 ours("torchvision's transforms, 2 processes", 'torchvision-2'),
                 ours('crop, then a function in NumPy', 'numpy-0'),
                 ours('crop, then a function in NumPy, 2 processes', 'numpy-2'),
                 OursInPython(recipe, REFERENCE, 'crop-torch', 'vision'), *peers], {PEER: 1},
                terms=f'160 photos, 16 times each, warm, 2 threads or processes, batch 128, f32; peers as in the row above; {NOTE}')]


def random_peers(job: str) -> list[ServedPeer]:
    environments = {'array_record': 'py', 'lance': 'py', 'mds': 'streams', 'litdata': 'streams'}
    return [ServedPeer(name, environment, name, job, ('pack-cifar', f'{name}-cifar'))
            for name, environment in environments.items()]


def access(_: Setting) -> list[Row]:
    terms = '60,000 × 3 KB, warm; Python, 1 process; recpack_io checks the CRC, peers check nothing'
    return [Row('python-record', 'a random record of 3 KB', 0,
                [OursInPython('recpack_io, with its image as an array', OURS, 'feature'),
                 OursInPython('recpack_io', OURS, 'record'),
                 OursInPython('os.pread of it', REFERENCE, 'pread'), *random_peers('random-cifar')],
                {REFERENCE: 0.3, PEER: 1}, cpus=1, terms=terms),
            Row('python-batch', 'batches of 128 random records of 3 KB', 0,
                [OursInPython('recpack_io', OURS, 'random-batches'), *random_peers('random-batches')],
                {PEER: 1}, terms=terms)]


def first(_: Setting) -> list[Row]:
    peers = {'ffcv': 'ffcv', 'dali': 'dali', 'tensorflow': 'tf', 'torch': 'vision', 'turboloader': 'ffcv',
             'mds': 'streams', 'litdata': 'streams', 'webdataset': 'streams', 'grain': 'streams'}
    return [Row('python-first', 'process start to the first batch, import included', 1,
                [Process('recpack_io', OURS, [str(BARE), '-c', FIRST, '{work}/out/recpack-cifar'],
                         config='import, open, Loader, next'),
                 Process('import numpy', REFERENCE, [str(BARE), '-c', 'import numpy' + NOT_TIMED],
                         config='import numpy'),
                 *(PeerProcess(name, environment, f'{name}_loader', 'cifar', mode='--first')
                   for name, environment in peers.items())], {PEER: 1}, unit='ms',
                terms=f'60,000 × 3 KB, warm, 2 threads; CIFAR-10 train recipe, f32, a batch of 512; {LIKE}')]


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
    return [row for group in (first, access, loading, functions) for row in group(setting)]
