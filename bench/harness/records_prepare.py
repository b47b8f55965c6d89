"""Makes what the rows of records.py read, once."""
import pathlib
import random
import subprocess

from harness.entrants import Setting, Unavailable, peer_command


def run_quietly(setting: Setting, command: list[str], say) -> None:
    """Runs it; says so if it fails."""
    done = subprocess.run(command, env=setting.environment(), capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        say(f'  failed, rows that need it will say so: {done.stderr.strip().splitlines()[-1:]}')


def prepare_by_peer(setting: Setting, job: str, say) -> None:
    """What TensorFlow's script makes for all."""
    try:
        run_quietly(setting, peer_command(setting, 'tf', 'tensorflow', job, '--once'), say)
    except Unavailable as error:
        say(f'  {error}')


def _file_lists(folder: pathlib.Path, work: pathlib.Path) -> None:
    """The files in order, and as a shuffled epoch would read them, for xargs -0."""
    names = sorted(str(p) for p in folder.rglob('*.jpg'))
    (work / 'files-in-order.list').write_text('\0'.join(names), encoding='utf-8')
    random.Random(1).shuffle(names)
    (work / 'files-shuffled.list').write_text('\0'.join(names), encoding='utf-8')


def prepare(setting: Setting, say) -> None:
    """Skips what is there already: remove the work folder to make it anew."""
    work = setting.work
    work.mkdir(parents=True, exist_ok=True)
    if not (work / 'shards' / 'cifar').is_dir():
        say('preparing shards that all TFRecord readers read')
        prepare_by_peer(setting, 'prepare', say)
    if not (work / 'small').is_dir():
        say('preparing 10^4 and 10^6 small records')
        prepare_by_peer(setting, 'small', say)
    if not (work / 'files-shuffled.list').exists():
        _file_lists(setting.data / 'cifar10-jpeg', work)
    recpack = setting.build / 'tools' / 'recpack' / 'recpack'
    if recpack.exists() and not (work / 'out' / 'ten-shards').is_dir():
        say('packing a data set of 10 shards')
        run_quietly(setting, [str(recpack), 'pack', str(setting.data / 'cifar-10-batches-py'),
                       str(work / 'out' / 'ten-shards'), '--from', 'cifar10', '--splits',
                       'train,test', '--shards', '10', '--quiet'], say)
