"""Makes what the rows of loader.py read, once."""
import base64
import json
import os
import pathlib
import shutil
import subprocess

from harness.entrants import ROOT, Setting, Unavailable, python_of
from harness.records_prepare import prepare_by_peer, run_quietly

GIGABYTES = 2
SHRUNK = 'sample-375'  # as bench/peers/recipes.py has it: the real photos, packed with their shorter side at 375
COPIES = 16  # of each real photo, so that an epoch of the few there are is long enough


def _copies(source: pathlib.Path, out: pathlib.Path) -> None:
    """Links the files of class folders, each under several names."""
    for path in sorted(p for p in source.rglob('*') if p.is_file()):
        folder = out / path.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(COPIES):
            os.link(path, folder / f'{path.stem}_{i:02}{path.suffix}')


def _photos(setting: Setting, out: pathlib.Path, say) -> None:
    script = str(ROOT / 'bench' / 'loader' / 'make_photos.py')
    try:
        run_quietly(setting, [python_of(setting, 'ffcv'), script,
                              str(setting.data / 'imagenet-sample'), str(out), '--gigabytes',
                              str(GIGABYTES)], say)
    except Unavailable as error:
        say(f'  {error}')


def _pack(setting: Setting, kind: str, say) -> None:
    """The files as shards, as shards with tiles, and as a tar."""
    recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
    files, out = setting.work / kind, setting.work / 'loader'
    ways = [(kind, ['--dali-index']), (f'{kind}-tile', ['--jpeg', 'tile'])]
    if kind == 'sample':
        ways.append((SHRUNK, ['--resize', '375', '--quality', '90', '--dali-index']))
    for name, flags in ways:
        if not (out / name / 'manifest.json').exists():
            say(f'packing {name}')
            run_quietly(setting, [recpack, 'pack', str(files), str(out / name), '--from', 'folder',
                                  '--quiet', *flags], say)
    if kind == 'sample':
        _unpack(setting, recpack, SHRUNK)
    for name in (kind, SHRUNK) if kind == 'sample' else (kind,):
        if not (out / f'{name}.tar').exists():
            run_quietly(setting, ['tar', 'cf', str(out / f'{name}.tar'), '--hard-dereference', '-C',
                                  str(setting.work / name), '.'], say)


def _unpack(setting: Setting, recpack: str, name: str) -> None:
    """The pictures of shards as files in class folders, so that all loaders have the same bytes."""
    out, part = setting.work / name, setting.work / f'{name}.part'
    if out.exists() or not (setting.work / 'loader' / name / 'manifest.json').exists():
        return
    shutil.rmtree(part, ignore_errors=True)
    shown = subprocess.run([recpack, 'cat', str(setting.work / 'loader' / name), '--range', '0:', '--json'],
                           capture_output=True, check=True).stdout
    for number, line in enumerate(shown.splitlines()):
        feature = json.loads(line)['features']['feature']
        folder = part / f"{int(feature['image/class/label']['int64List']['value'][0]):04}"
        folder.mkdir(parents=True, exist_ok=True)
        picture = base64.b64decode(feature['image/encoded']['bytesList']['value'][0])
        (folder / f'{number:05}.jpg').write_bytes(picture)
    part.rename(out)


def prepare(setting: Setting, say, kinds: tuple[str, ...] = ('photos', 'sample')) -> None:
    """Skips what is there already: remove the work folder to make it anew."""
    work = setting.work
    (work / 'loader').mkdir(parents=True, exist_ok=True)
    if not (work / 'shards' / 'cifar').is_dir():
        say('preparing shards that all TFRecord readers read')
        prepare_by_peer(setting, 'prepare', say)
    if 'photos' in kinds and not (work / 'photos').exists():
        say(f'making {GIGABYTES} GB of distinct photos')
        _photos(setting, work / 'photos', say)
    if not (work / 'sample').exists():
        _copies(setting.data / 'imagenet-sample', work / 'sample')
    for kind in kinds:
        _pack(setting, kind, say)
