"""The rows of bench/results/loader.json: what is compared with what."""
import itertools

from harness.entrants import CEILING, OURS, PEER, Program, ServedPeer, ServedProgram, Setting
from harness.machine import drop_cache
from harness.measure import Row

CIFAR = '{work}/shards/cifar'
LOADER = '{build}/bench/pipeline/loader_bench'
BARE = '{build}/bench/pipeline/bare_bench'
CROP_SAMPLES = '3072'  # as bench/peers/recipes.py has it
CROP = ['--recipe', 'imagenet-train', '--batch', '128', '--samples', CROP_SAMPLES]
PLAIN = 'recpack, plain shards'
PHOTOS = {'photos': 'crops of ImageNet photos, encoded anew', 'sample': 'real ImageNet photos'}


def ours(label: str, data: str, *flags: str) -> ServedProgram:
    return ServedProgram(label, OURS, [LOADER, 'rate', data, *flags])


def bare(label: str, job: str, data: str, *flags: str) -> ServedProgram:
    return ServedProgram(label, CEILING, [BARE, job, data, *flags])


def peer(name: str, environment: str, job: str) -> ServedPeer:
    return ServedPeer(name, environment, f'{name}_loader', job)


def cifar_peers() -> list[ServedPeer]:
    return [peer('ffcv', 'ffcv', 'cifar'), peer('dali', 'dali', 'cifar'),
            peer('tensorflow', 'tf', 'cifar'), peer('torch', 'vision', 'cifar'),
            peer('turboloader', 'ffcv', 'cifar')]


def cifar(_: Setting) -> list[Row]:
    return [Row('cifar-f32', 'CIFAR-10 train recipe, f32', 0,
                [ours('recpack', CIFAR), bare('bare loop of the same work', 'cifar', CIFAR),
                 *cifar_peers()], {PEER: 8, CEILING: 0.8},
                note='pad and crop, flip, normalise; recpack checks CRCs'),
            Row('cifar-u8', 'CIFAR-10 train recipe, u8', 0,
                [ours('recpack', CIFAR, '--type', 'u8'),
                 bare('bare loop of the same work', 'cifar', CIFAR, '--type', 'u8')],
                {CEILING: 0.8})]


def crop_peers(kind: str, dtype: str, resize: str) -> list[ServedPeer]:
    job = f'crop-{kind}-{dtype}-{resize}'
    peers = [peer('tensorflow', 'tf', job), peer('dali', 'dali', job), peer('ffcv', 'ffcv', job),
             peer('torch', 'vision', job), peer('spdl', 'ffcv', job)]
    return peers + ([peer('turboloader', 'ffcv', job)] if dtype == 'f32' else [])


def crop_reads(kind: str) -> dict[str, str]:
    shards = '{work}/loader/' + kind
    return {'recpack, tiled shards': shards + '-tile', PLAIN: shards,
            "libjpeg-turbo's crop decode alone": shards, 'tensorflow': shards, 'dali': shards,
            'ffcv': shards + '.beton', 'turboloader': shards + '.tar',
            'torch': '{work}/' + kind, 'spdl': '{work}/' + kind}


def crops(_: Setting) -> list[Row]:
    rows = []
    for kind, dtype, resize in itertools.product(PHOTOS, ('f32', 'u8'), ('antialias', 'plain')):
        flags = [*CROP, '--type', dtype, '--filter',
                 'antialias' if resize == 'antialias' else 'two-taps']
        rows.append(Row(
            f'crop-{kind}-{dtype}-{resize}',
            f'ImageNet train recipe, {dtype}, {resize} resize: {PHOTOS[kind]}', 0,
            [ours('recpack, tiled shards', '{work}/loader/' + kind + '-tile', *flags),
             ours(PLAIN, '{work}/loader/' + kind, *flags),
             bare("libjpeg-turbo's crop decode alone", 'crop', '{work}/loader/' + kind,
                  '--samples', CROP_SAMPLES), *crop_peers(kind, dtype, resize)],
            {PEER: 1.7, f'{PLAIN} against {PEER}': 1.2, CEILING: 1},
            warm=crop_reads(kind),
            note='exact decoding; spdl and ffcv resize by filters of their own'))
    return rows


def parsing(_: Setting) -> list[Row]:
    flags = ['--recipe', 'parse-cifar', '--order', 'sequential']
    return [Row('parse', 'batches of (3072 bytes, label), in order', 0,
                [ours('recpack', CIFAR, *flags),
                 bare('bare loop of the same work', 'parse', CIFAR),
                 ServedPeer('tensorflow', 'tf', 'tensorflow', 'parse-cifar'),
                 ServedPeer('tensorflow, 2 files', 'tf', 'tensorflow', 'parse-cifar-parallel'),
                 ServedPeer('dali', 'dali', 'dali', 'parse-cifar')],
                {'tensorflow': 8, 'tensorflow, 2 files': 8, 'dali': 10})]


def scaling(_: Setting) -> list[Row]:
    def row(name: str, title: str, data: str, flags: list[str], *samples: str) -> Row:
        bares = [bare(f'bare loop, {count}', name, data, '--threads', count[0], *samples)
                 for count in ('2 threads', '1 thread')]
        entrants = [ours('2 threads', data, *flags),
                    ours('1 thread', data, *flags, '--threads', '1'), *bares]
        return Row(f'scaling-{name}', f'{title}, 2 threads against 1', 0, entrants,
                   {'1 thread': 1.9}, warm={e.label: data for e in entrants},
                   note='what the machine gives is what the bare loops reach')
    photos = '{work}/loader/photos'
    unchecked = [*CROP, '--order', 'sequential', '--verify', '0']
    return [row('cifar', 'CIFAR-10 train recipe', CIFAR, []),
            row('crop', 'ImageNet train recipe', photos, CROP, '--samples', CROP_SAMPLES),
            Row('overhead', 'ImageNet train recipe as it comes, or in order and unchecked', 0,
                [ours('as it comes', photos, *CROP), ours('in order, no CRC', photos, *unchecked)],
                {'in order, no CRC': 0.97},
                warm={'as it comes': photos, 'in order, no CRC': photos},
                note='the cost of order and CRCs')]


def first(_: Setting) -> list[Row]:
    def row(name: str, data: str, *flags: str) -> Row:
        return Row(f'first-{name}', f'process start to the first batch, {name}', 1,
                   [Program('recpack', OURS, [LOADER, 'first', data, *flags], 'first')], unit='ms',
                   note='the aim is 50 ms')
    return [row('cifar', '{work}/out/ten-shards'),
            row('crop', '{work}/loader/photos', '--recipe', 'imagenet-train', '--batch', '64')]


def steady(_: Setting) -> list[Row]:
    """Of a consumer that sleeps a step: all of its time, and that without waiting for batches."""
    def row(name: str, data: str, step_ms: str, steps: str, *flags: str) -> Row:
        words = ['steady', data, '--step-ms', step_ms, '--steps', steps, *flags]
        return Row(f'steady-{name}', f'a consumer that sleeps {step_ms} ms a step, {name}', 1,
                   [Program('with its waits', OURS, [LOADER, *words], 'steady'),
                    Program('without', CEILING, [LOADER, *words], 'steps')], {CEILING: 0.99},
                   unit='ms')
    return [row('cifar', CIFAR, '2', '500'),
            row('crop', '{work}/loader/photos', '50', '60', '--recipe', 'imagenet-train',
                '--batch', '64')]


def ends(_: Setting) -> list[Row]:
    words = [LOADER, 'ends', CIFAR]
    return [Row('epoch-end', "the wait for an epoch's first batch against that for any", 1,
                [Program('first of an epoch', OURS, words, 'end'),
                 Program('any', CEILING, words, 'batch')], {CEILING: 0.5}, unit='ms',
                note='the aim is at most one batch more')]


def memory(_: Setting) -> list[Row]:
    jobs = [('cifar', [CIFAR]),
            ('crop', ['{work}/loader/photos', '--recipe', 'imagenet-train', '--batch', '128'])]
    return [Row('memory', 'memory of the loader beyond its slabs', 1,
                [Program(f'recpack, {name}', OURS, [LOADER, 'memory', *words], 'memory')
                 for name, words in jobs], unit='MB',
                note='what is mapped of files is not counted; the aim is 150 MB')]


def cold(_: Setting) -> list[Row]:
    data = '{work}/loader/photos'

    def forget(at: Setting) -> str:
        return drop_cache([at.work / 'loader' / 'photos'])
    flags = ['--recipe', 'labels', '--order', 'window', '--batch', '128']
    return [Row('cold-window', 'photos read and checked in window order, cold', 0,
                [Program('recpack', OURS, [LOADER, 'epoch', data, *flags], 'epoch'),
                 Program('large reads in order', CEILING,
                         [BARE, 'sequential', data, '--rounds', '0'], 'sequential')],
                {CEILING: 0.9}, cold=forget)]


GROUPS = [cifar, parsing, scaling, first, steady, ends, memory, cold, crops]


def all_rows(setting: Setting) -> list[Row]:
    return [row for group in GROUPS for row in group(setting)]
