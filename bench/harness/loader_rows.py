"""The rows of bench/results/loader.json: what is compared with what."""
import itertools

from harness.entrants import OURS, PEER, REFERENCE, Program, ServedPeer, ServedProgram, Setting
from harness.loader_prepare import SHRUNK
from harness.machine import drop_cache
from harness.measure import Row

CIFAR = '{work}/shards/cifar'
LOADER = '{build}/bench/loader/loader_bench'
BARE = '{build}/bench/loader/bare_bench'
OURSELVES = 'ours against ourselves'
CROP_SAMPLES = '3072'  # as bench/peers/recipes.py has it
CROP = ['--recipe', 'imagenet-train', '--batch', '128', '--samples', CROP_SAMPLES]
RECORDS = '60,000 × 3 KB'
PLAIN = 'recpack, plain shards'
RESIZED = 'recpack pack --resize 375'
FLOATS_ONLY = '; turboloader hands out floats only'
NCHW = 'recpack NCHW, peers as their config says'
SIZES = {'photos': '2 GB of distinct photos', 'sample': '160 photos, 16 times each, 280 MB'}
PHOTOS = {'photos': 'crops of ImageNet photos, encoded anew', 'sample': 'real ImageNet photos'}


def ours(label: str, data: str, *flags: str) -> ServedProgram:
    return ServedProgram(label, OURS, [LOADER, 'rate', data, *flags])


def bare(label: str, job: str, data: str, *flags: str) -> ServedProgram:
    return ServedProgram(label, REFERENCE, [BARE, job, data, *flags])


def peer(name: str, environment: str, job: str) -> ServedPeer:
    return ServedPeer(name, environment, f'{name}_loader', job)


STREAMS = ('mds', 'litdata', 'webdataset', 'grain')


def cifar_peers(dtype: str = 'f32') -> list[ServedPeer]:
    job = 'cifar' if dtype == 'f32' else 'cifar-u8'
    peers = [peer('ffcv', 'ffcv', job), peer('dali', 'dali', job), peer('tensorflow', 'tf', job),
             peer('torch', 'vision', job), *(peer(name, 'streams', job) for name in STREAMS)]
    return peers + ([peer('turboloader', 'ffcv', job)] if dtype == 'f32' else [])


def cifar(_: Setting) -> list[Row]:
    def row(dtype: str, target: float) -> Row:
        flags = ['--type', dtype]
        return Row(f'cifar-{dtype}', f'CIFAR-10 train recipe, {dtype}', 0,
                   [ours('recpack', CIFAR, *flags), ours('recpack, NHWC', CIFAR, *flags, '--layout', 'nhwc'),
                    bare('bare loop of the same work', 'cifar', CIFAR, *flags), *cifar_peers(dtype)],
                   {PEER: target, REFERENCE: 0.8},
                   terms=f"60,000 × 3 KB, warm, 2 threads, batch 512, {dtype}, {NCHW}; pad and crop, flip"
                         f"{', normalise' if dtype == 'f32' else FLOATS_ONLY}; recpack and tensorflow check CRCs; ours is C++")
    return [row('f32', 8), row('u8', 2)]


def crop_peers(kind: str, dtype: str, resize: str) -> list[ServedPeer]:
    job = f'crop-{kind}-{dtype}-{resize}'
    peers = [peer('tensorflow', 'tf', job), peer('dali', 'dali', job), peer('ffcv', 'ffcv', job),
             peer('torch', 'vision', job), peer('spdl', 'ffcv', job),
             *(peer(name, 'streams', job) for name in STREAMS)]
    if dtype == 'f32':
        peers.append(peer('turboloader', 'ffcv', job))
    if kind == 'sample':
        peers += ffcv_modes(job, '-proportion', '-raw')
    return peers


def ffcv_modes(job: str, *modes: str) -> list[ServedPeer]:
    return [ServedPeer(f"ffcv, {mode.strip('-')}", 'ffcv', 'ffcv_loader', job + mode) for mode in modes]


def crop_reads(kind: str) -> dict[str, str]:
    shards = '{work}/loader/' + kind
    reads = {'recpack, tiled shards': shards + '-tile', PLAIN: shards, RESIZED: shards, 'recpack, plain shards, NHWC': shards,
             "libjpeg-turbo's crop decode alone": shards, 'tensorflow': shards, 'dali': shards,
             'ffcv': shards + '.beton', 'turboloader': shards + '.tar',
             'torch': '{work}/' + kind, 'spdl': '{work}/' + kind,
             'grain': '{work}/loader/grain-' + kind + '.array_record'}
    reads |= {f'ffcv, {mode}': f'{shards}-{mode}.beton' for mode in ('proportion', 'raw')}
    return reads | {name: '{work}/loader/' + f'{name}-{kind}' for name in ('mds', 'litdata', 'webdataset')}


CROPS = [*itertools.product(['sample'], ('f32', 'u8'), ('antialias', 'plain')), ('photos', 'f32', 'antialias')]


def crop_flags(dtype: str, resize: str) -> list[str]:
    return [*CROP, '--type', dtype, '--filter', 'antialias' if resize == 'antialias' else 'two-taps']


def crops(_: Setting) -> list[Row]:
    rows = []
    for kind, dtype, resize in CROPS:
        flags, shards = crop_flags(dtype, resize), '{work}/loader/' + kind
        rows.append(Row(
            f'crop-{kind}-{dtype}-{resize}',
            f'ImageNet train recipe, {dtype}, {resize} resize: {PHOTOS[kind]}', 0,
            [ours(PLAIN, shards, *flags), ours('recpack, tiled shards', shards + '-tile', *flags),
             ours('recpack, plain shards, NHWC', shards, *flags, '--layout', 'nhwc'),
             bare("libjpeg-turbo's crop decode alone", 'crop', shards, '--samples', CROP_SAMPLES),
             *crop_peers(kind, dtype, resize)],
            {PEER: 1.2, f'recpack, tiled shards against {PEER}': 1.7},
            warm=crop_reads(kind),
            terms=f'{SIZES[kind]}, warm, 2 threads, batch 128, {dtype}, {NCHW}; exact decoding; spdl and ffcv resize by '
                  f"filters of their own{'' if dtype == 'f32' else FLOATS_ONLY}; recpack and tensorflow check CRCs; ours is C++"))
    return [*rows, shrunk()]


def shrunk() -> Row:
    """Photos that were made small when they were packed, as FFCV's own ImageNet example has it."""
    modes = ('-500', '-500-proportion', '-500-raw')
    peers = [each for each in crop_peers(SHRUNK, 'f32', 'antialias') if each.label != 'ffcv']
    return Row('crop-shrunk', 'ImageNet train recipe, f32, antialias resize: real ImageNet photos, shrunk', 0,
               [ours(RESIZED, '{work}/loader/' + SHRUNK, *crop_flags('f32', 'antialias')),
                *ffcv_modes('crop-sample-f32-antialias', *modes), *peers], {PEER: 1},
               warm={**crop_reads(SHRUNK),
                     **{f"ffcv, {mode.strip('-')}": '{work}/loader/sample' + mode + '.beton' for mode in modes}},
               terms=f'2,560 photos, warm, 2 threads, batch 128, f32, {NCHW}; JPEG of quality 90, the same of all, shorter '
                     'side 375; ffcv: its own, longer side 500 at most; recpack and tensorflow check CRCs; ours is C++')


def parsing(_: Setting) -> list[Row]:
    flags = ['--recipe', 'parse-cifar', '--order', 'sequential']
    return [Row('parse', 'batches of (3072 bytes, label), in order', 0,
                [ours('recpack', CIFAR, *flags),
                 bare('bare loop of the same work', 'parse', CIFAR),
                 ServedPeer('tensorflow', 'tf', 'tensorflow', 'parse-cifar'),
                 ServedPeer('tensorflow, 2 files', 'tf', 'tensorflow', 'parse-cifar-parallel'),
                 ServedPeer('dali', 'dali', 'dali', 'parse-cifar'),
                 *(ServedPeer(name, 'streams', name, 'parse-cifar', ('pack-cifar', f'{name}-cifar'))
                   for name in ('mds', 'litdata', 'webdataset')),
                 ServedPeer('grain', 'streams', 'grain_loader', 'parse-cifar')],
                {'tensorflow': 8, 'tensorflow, 2 files': 8, 'dali': 10, PEER: 8},
                terms='60,000 × 3 KB, warm, 2 threads, batch 512, bytes; recpack and tensorflow check CRCs; ours is C++')]


def scaling(_: Setting) -> list[Row]:
    def row(name: str, title: str, size: str, data: str, flags: list[str], *samples: str) -> Row:
        bares = [bare(f'bare loop, {count}', name, data, '--threads', count[0], *samples)
                 for count in ('2 threads', '1 thread')]
        entrants = [ours('2 threads', data, *flags),
                    ours('1 thread', data, *flags, '--threads', '1'), *bares]
        return Row(f'scaling-{name}', f'{title}, 2 threads against 1', 0, entrants,
                   {'1 thread': 1.9}, warm={e.label: data for e in entrants},
                   terms=f'{size}, f32, NCHW, CRC-32C; what the machine gives is what the bare loops reach',
                   alone=OURSELVES)
    photos = '{work}/loader/photos'
    unchecked = [*CROP, '--order', 'sequential', '--verify', '0']
    return [row('cifar', 'CIFAR-10 train recipe', f'{RECORDS}, warm, batch 512', CIFAR, []),
            row('crop', 'ImageNet train recipe', f"{SIZES['photos']}, warm, batch 128", photos, CROP, '--samples', CROP_SAMPLES),
            Row('overhead', 'ImageNet train recipe as it comes, or in order and unchecked', 0,
                [ours('as it comes', photos, *CROP), ours('in order, no CRC', photos, *unchecked)],
                {'in order, no CRC': 0.97},
                warm={'as it comes': photos, 'in order, no CRC': photos},
                terms=f"{SIZES['photos']}, warm, 2 threads, batch 128, f32, NCHW; the cost of order and of CRC-32C", alone=OURSELVES)]


def first(_: Setting) -> list[Row]:
    def row(name: str, size: str, data: str, *flags: str) -> Row:
        return Row(f'first-{name}', f'process start to the first batch, {name}', 1,
                   [Program('recpack', OURS, [LOADER, 'first', data, *flags], 'first')], unit='ms',
                   terms=f'{size}, warm, 2 threads, f32, NCHW, CRC-32C', alone='peers start in Python: "From Python" has them')
    return [row('cifar', f'{RECORDS}, batch 512', '{work}/out/ten-shards'),
            row('crop', f"{SIZES['photos']}, batch 64", '{work}/loader/photos', '--recipe', 'imagenet-train', '--batch', '64')]


def steady(_: Setting) -> list[Row]:
    """Times of a consumer that sleeps a step: all of it, and that without waiting for batches."""
    def row(name: str, size: str, data: str, step_ms: str, steps: str, *flags: str) -> Row:
        words = ['steady', data, '--step-ms', step_ms, '--steps', steps, *flags]
        return Row(f'steady-{name}', f'a consumer that sleeps {step_ms} ms a step, {name}', 1,
                   [Program('with its waits', OURS, [LOADER, *words], 'steady'),
                    Program('without', REFERENCE, [LOADER, *words], 'steps')], {REFERENCE: 0.99},
                   unit='ms', terms=f'{size}, warm, 2 threads, f32, NCHW, CRC-32C', alone=OURSELVES)
    return [row('cifar', f'{RECORDS}, batch 512', CIFAR, '2', '500'),
            row('crop', f"{SIZES['photos']}, batch 64", '{work}/loader/photos', '50', '60', '--recipe', 'imagenet-train',
                '--batch', '64')]


def ends(_: Setting) -> list[Row]:
    words = [LOADER, 'ends', CIFAR]
    return [Row('epoch-end', "the wait for an epoch's first batch against that for any", 1,
                [Program('first of an epoch', OURS, words, 'end'),
                 Program('any', REFERENCE, words, 'batch')], {REFERENCE: 0.5}, unit='ms',
                terms=f'{RECORDS}, warm, 2 threads, batch 512, f32, NCHW, CRC-32C', alone=OURSELVES)]


def memory(_: Setting) -> list[Row]:
    jobs = [('cifar', [CIFAR]),
            ('crop', ['{work}/loader/photos', '--recipe', 'imagenet-train', '--batch', '128'])]
    return [Row('memory', 'memory of the loader beyond its slabs', 1,
                [Program(f'recpack, {name}', OURS, [LOADER, 'memory', *words], 'memory')
                 for name, words in jobs], unit='MB',
                terms=f"cifar: {RECORDS}; crop: {SIZES['photos']}; what is mapped of files is not counted", alone=OURSELVES)]


def cold(_: Setting) -> list[Row]:
    data = '{work}/loader/photos'

    def forget(at: Setting) -> str:
        return drop_cache([at.work / 'loader' / 'photos'])
    flags = ['--recipe', 'labels', '--order', 'window', '--batch', '128']
    return [Row('cold-window', 'photos read and checked in window order, cold', 0,
                [Program('recpack', OURS, [LOADER, 'epoch', data, *flags], 'epoch'),
                 Program('large reads in order', REFERENCE,
                         [BARE, 'sequential', data, '--rounds', '0'], 'sequential')],
                {REFERENCE: 0.9}, cold=forget, terms='2 GB of photos, cold, 2 threads, CRC-32C', alone=OURSELVES)]


GROUPS = [cifar, parsing, scaling, first, steady, ends, memory, cold, crops]


def all_rows(setting: Setting) -> list[Row]:
    return [row for group in GROUPS for row in group(setting)]
