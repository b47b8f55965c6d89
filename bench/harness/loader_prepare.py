"""Makes what the rows of loader.py read, once."""
import os
import pathlib

from harness.entrants import ROOT, Setting, Unavailable, python_of
from harness.records_prepare import prepare_by_peer, run_quietly

GIGABYTES = 2
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
        ways.append((f'{kind}-375', ['--resize', '375', '--quality', '90']))
    for name, flags in ways:
        if not (out / name / 'manifest.json').exists():
            say(f'packing {name}')
            run_quietly(setting, [recpack, 'pack', str(files), str(out / name), '--from', 'folder',
                                  '--quiet', *flags], say)
    if not (out / f'{kind}.tar').exists():
        run_quietly(setting, ['tar', 'cf', str(out / f'{kind}.tar'), '--hard-dereference', '-C', str(files), '.'], say)


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
