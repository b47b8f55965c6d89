"""Reading and packing through faults and kill -9: what is lost, doubled, different, or hangs."""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

from harness.entrants import ROOT, Setting
from harness.remote_stand import BUCKET, Proxy, client

sys.path.insert(0, str(ROOT / 'tests' / 'cli'))
from object_server import ObjectServer  # noqa: E402

KINDS = 'cut', 'corrupt', '500', '503', 'stall', 'reset', 'wrong_range', 'truncated'
HANG_SECONDS = 300
SHARE = 0.2
READ = ['--recipe', 'imagenet-eval', '--batch-size', '8', '--order', 'global', '--json', '--ids', '--last-batch', 'keep']


class Case:
    """A small data set at `data` of the bucket, and what batches it gives when it is read from the disk."""

    def __init__(self, setting: Setting, data: str, credentials: dict | None = None):
        self.setting, self.data, self.credentials = setting, data, credentials or {}
        self.recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
        self.local = setting.work / 'remote' / BUCKET / data
        done = subprocess.run([self.recpack, 'batches', str(self.local), *READ], capture_output=True, text=True, check=True)
        self.expected = done.stdout.replace(str(self.local), 'DATA')

    def forget(self) -> None:
        shutil.rmtree(self.setting.work / 'cache', ignore_errors=True)

    def environment(self, port: int) -> dict:
        return client(self.setting, port) | self.credentials

    def words(self) -> list[str]:
        return [self.recpack, 'batches', f's3://{BUCKET}/{self.data}', *READ]


def read(case: Case, port: int, faults: int, say) -> dict:
    """Epochs through faults until there were so many."""
    counts, runs, different, hangs, errors = collections.Counter(), 0, 0, 0, []
    while sum(counts.values()) < faults:
        case.forget()
        with Proxy(case.setting, port, faulty=SHARE, faults=','.join(KINDS), stall_s=1, seed=1000 + runs) as proxy:
            try:
                done = subprocess.run(case.words(), env=case.environment(proxy.port), capture_output=True, text=True,
                                      timeout=HANG_SECONDS, check=False)
                if done.returncode != 0:
                    errors.append(done.stderr.strip()[:300])
                different += done.returncode == 0 and done.stdout.replace(f's3://{BUCKET}/{case.data}', 'DATA') != case.expected
            except subprocess.TimeoutExpired:
                hangs += 1
            counts.update(proxy.counts()['faults'])
        runs += 1
        say(f'  {sum(counts.values())} faults in {runs} runs: {different} different, {hangs} hangs, {len(errors)} errors')
    return {'name': 'read-faults', 'runs': runs, 'faults': sum(counts.values()), 'kinds': dict(sorted(counts.items())),
            'share': SHARE, 'different': different, 'hangs': hangs, 'errors': errors}


def changed(case: Case, port: int, runs: int, share: float = 0.02) -> dict:
    """Answers of another version: an error that says so, and no batch of them."""
    said, other, changes = 0, 0, 0
    for number in range(runs):
        case.forget()
        with Proxy(case.setting, port, faulty=share, faults='changed', seed=2000 + number) as proxy:
            done = subprocess.run(case.words(), env=case.environment(proxy.port), capture_output=True, text=True,
                                  timeout=HANG_SECONDS, check=False)
            changes += proxy.counts()['faults'].get('changed', 0)
        lines = [line for line in done.stdout.splitlines() if '"sha256"' in line]
        right = all(line in case.expected for line in lines)
        told = done.returncode != 0 and 'changed' in done.stderr
        said += told
        other += not right or not (told or done.returncode == 0)
    return {'name': 'changed-objects', 'runs': runs, 'changes': changes, 'said': said, 'wrong': other}


def consumer_kills(case: Case, port: int, kills: int) -> dict:
    """A consumer of batches that is killed and goes on from its last token, epoch after epoch."""
    expected = [json.loads(line) for line in case.expected.splitlines() if '"sha256"' in line]
    chance, killed, different, epochs, errors = random.Random(6), 0, 0, 0, []
    with Proxy(case.setting, port, delay_ms=5, faulty=0.05, faults=','.join(KINDS), stall_s=1, seed=3000) as proxy:
        while killed < kills:
            case.forget()
            got, token = [], None
            while len(got) < len(expected):
                resume = ['--resume', token] if token else []
                run = subprocess.Popen(case.words() + resume, env=case.environment(proxy.port), text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                take = chance.randint(1, 2 * len(expected))
                for line in run.stdout:
                    if '"sha256"' not in line:
                        continue
                    got.append(json.loads(line))
                    token = got[-1]['token']
                    take -= 1
                    if take == 0 and len(got) < len(expected):
                        run.send_signal(signal.SIGKILL)
                        killed += 1
                        break
                said = run.communicate()[1]
                if take > 0 and run.returncode not in (0, -signal.SIGKILL):
                    errors.append(said.strip()[:300])
                    break
            wanted = expected if len(got) == len(expected) else expected[:len(got)]  # up to an error
            different += any(a['sha256'] != b['sha256'] or a['ids'] != b['ids'] for a, b in zip(got, wanted, strict=True))
            epochs += 1
    return {'name': 'consumer-kills', 'kills': killed, 'epochs': epochs, 'different': different, 'errors': errors}


def pack_kills(setting: Setting, kills: int) -> dict:
    """recpack pack into a store, killed and started again until it is done, job after job."""
    recpack = str(setting.build / 'tools' / 'recpack' / 'recpack')
    at = setting.work / 'pack-kills'
    shutil.rmtree(at, ignore_errors=True)
    chance = random.Random(7)
    for number in range(600):
        path = at / 'photos' / 'ab'[number % 2] / f'{number:04}.bin'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(chance.randbytes(chance.randrange(1, 30_000)))
    flags = ['--shard-size', '500KB', '--quiet']
    subprocess.run([recpack, 'pack', str(at / 'photos'), str(at / 'whole'), *flags, '--no-sync'], check=True)

    def files(folder: pathlib.Path) -> dict:
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    expected, killed, jobs, different, left = files(at / 'whole'), 0, 0, 0, 0
    (at / 'store' / 'bucket').mkdir(parents=True)
    server = ObjectServer(at / 'store')
    try:
        with Proxy(setting, int(server.url.rpartition(':')[2]), delay_ms=2, faulty=0.05, faults='500,503,reset', seed=4000) as proxy:
            env = setting.environment() | server.environment() | {
                'AWS_ENDPOINT_URL': f'http://127.0.0.1:{proxy.port}', 'RECPACK_CACHE': str(at / 'cache')}
            while killed < kills:
                words = [recpack, 'pack', str(at / 'photos'), f's3://bucket/job-{jobs}', *flags]
                for _ in range(200):
                    run = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    try:
                        if run.wait(chance.uniform(0.02, 0.8)) == 0:
                            break
                    except subprocess.TimeoutExpired:
                        run.send_signal(signal.SIGKILL)
                        run.wait()
                        killed += 1
                different += files(at / 'store' / 'bucket' / f'job-{jobs}') != expected
                time.sleep(0.1)
                left += len(server.uploads)
                jobs += 1
    finally:
        server.close()
        shutil.rmtree(at, ignore_errors=True)
    return {'name': 'pack-kills', 'kills': killed, 'jobs': jobs, 'different': different, 'unfinished_uploads_left': left}


def all_figures(setting: Setting, port: int, data: str, faults: int, kills: int, chosen: list[str], say):
    """Yields each figure, with the load that others were when it began."""
    case = Case(setting, data)
    figures = {'read-faults': lambda: read(case, port, faults, say),
               'changed-objects': lambda: changed(case, port, max(1, faults // 50)),
               'consumer-kills': lambda: consumer_kills(case, port, kills // 2),
               'pack-kills': lambda: pack_kills(setting, kills - kills // 2)}
    for name, measure in figures.items():
        if name in chosen or not chosen:
            load = round(os.getloadavg()[0], 2)
            yield measure() | {'load_average': load}
