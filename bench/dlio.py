#!/usr/bin/env python3
"""Measures the utilisation of emulated accelerators with DLIO: recpack's loader beside DLIO's own.

    python3 bench/dlio.py --wheel dist/recpack_io-*.whl --out bench/results/dlio-resnet50.json

DLIO's workload resnet50_h100: TFRecord files of 1251 records of 114 KB, batches of 400, 0.224 s of computing per batch
and accelerator. An emulated accelerator sleeps; several are one that computes as many times faster. DLIO needs
TensorFlow and PyTorch: its environment, VENVS/dlio, stands on those of `bash bench/peers/setup.sh tf vision`, and the wheel
is installed into it.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'bench'), str(ROOT / 'tests/cli')]
from harness import machine  # noqa: E402
from object_server import ObjectServer  # noqa: E402

PACKAGES = ('hydra-core==1.3.8', 'omegaconf==2.3.1', 'antlr4-python3-runtime==4.9.3', 'pandas==3.1.1',
            'python-dateutil==4.0.0', 'psutil==7.2.2', 'mpi4py==4.1.2', 'pillow==13.0.0', 'PyYAML==6.0.4',
            'pydftracer==1.0.2', 'dlio_benchmark==2.0.0')
WORKLOAD, STEP, PER_FILE = 'resnet50_h100', 0.224, 1251
OURS = ('++workload.reader.data_loader_classname=recpack_dlio.RecpackLoader',
        '++workload.reader.data_loader_sampler=iterative')
# npz: DLIO's PyTorch loader reads nothing of TFRecord files.
TORCH = ('++workload.framework=pytorch', '++workload.reader.data_loader=pytorch', '++workload.dataset.format=npz',
         '++workload.dataset.num_samples_per_file=1')
LOADERS = {'recpack': OURS, 'recpack, object store': OURS, 'DLIO, tf.data': (), 'DLIO, PyTorch, npz': TORCH}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--venvs', type=pathlib.Path,
                        default=pathlib.Path(os.environ.get('RECPACK_VENVS', ROOT / '.venvs')))
    parser.add_argument('--wheel', type=pathlib.Path, help='recpack_io to install first')
    parser.add_argument('--recpack', type=pathlib.Path, default=ROOT / 'build/release/tools/recpack/recpack')
    parser.add_argument('--accelerators', type=int, nargs='+', default=[1, 2, 4])
    parser.add_argument('--files', type=int, default=4)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=2)
    parser.add_argument('--out', type=pathlib.Path)
    return parser.parse_args()


def make_environment(venvs: pathlib.Path) -> None:
    """Makes VENVS/dlio if there is none."""
    folder = venvs / 'dlio'
    if (folder / 'bin/dlio_benchmark').exists():
        return
    subprocess.run([sys.executable, '-m', 'venv', folder], check=True)
    subprocess.run([folder / 'bin/pip', 'install', '-q', '--no-deps', *PACKAGES], check=True)
    packages = next((folder / 'lib').glob('python3*')) / 'site-packages'
    others = [next((venvs / name / 'lib').glob('python3*')) / 'site-packages' for name in ('tf', 'vision')]
    (packages / 'peers.pth').write_text(''.join(f'{other}\n' for other in others), encoding='utf-8')


class Dlio:
    def __init__(self, given: argparse.Namespace, work: pathlib.Path):
        self.given, self.work = given, work
        self.program = given.venvs / 'dlio/bin/dlio_benchmark'
        (work / 'bin').mkdir()
        (work / 'bin/tfrecord2idx').symlink_to('/bin/true')  # of DALI, which alone uses its index

    def run(self, data: str, *settings: str, **environment: str) -> dict:
        """Returns DLIO's summary of the run."""
        out = self.work / 'out'
        shutil.rmtree(out, ignore_errors=True)
        command = [self.program, f'workload={WORKLOAD}', f'++workload.dataset.data_folder={self.work / data}',
                   f'++workload.output.folder={out}', f'hydra.run.dir={out}',
                   f'++workload.dataset.num_files_train={self.given.files}',
                   f'++workload.train.epochs={self.given.epochs}',
                   f'++workload.reader.read_threads={self.given.threads}',
                   f'++workload.reader.computation_threads={self.given.threads}', *settings]
        env = {**os.environ, 'PATH': f'{self.work / "bin"}:{os.environ["PATH"]}', 'CUDA_VISIBLE_DEVICES': '',
               'TF_CPP_MIN_LOG_LEVEL': '3', 'DFTRACER_ENABLE': '0', 'PYTHONPATH': str(ROOT / 'examples/dlio'),
               **environment}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{done.stdout[-2000:]}\n{done.stderr[-2000:]}')
        summary = out / 'summary.json'
        return json.loads(summary.read_text(encoding='utf-8'))['metric'] if summary.exists() else {}

    def generate(self, data: str, *settings: str) -> None:
        self.run(data, '++workload.workflow.generate_data=True', '++workload.workflow.train=False', *settings)

    def train(self, loader: str, accelerators: int, **environment: str) -> dict:
        settings = [f'++workload.train.computation_time={STEP / accelerators}', *LOADERS[loader]]
        if loader == 'DLIO, PyTorch, npz':  # the last of settings that are given twice counts
            settings.append(f'++workload.dataset.num_files_train={self.given.files * PER_FILE}')
        data = 'npz' if 'npz' in loader else 'tfrecord'
        how = machine.drop_cache([self.work / data])
        metric = self.run(data, *settings, **environment)
        return {'loader': loader, 'accelerators': accelerators, 'cold_by': how,
                'au': metric['train_au_percentage'], 'samples_per_s': metric['train_throughput_samples_per_second']}


def summed_up(runs: list[dict]) -> list[dict]:
    """The median over the rounds of each loader's mean over the epochs, by number of accelerators."""
    rows = []
    for loader, accelerators in dict.fromkeys((run['loader'], run['accelerators']) for run in runs):
        some = [run for run in runs if (run['loader'], run['accelerators']) == (loader, accelerators)]
        rows.append({'loader': loader, 'accelerators': accelerators,
                     'au_percent': statistics.median(statistics.mean(run['au']) for run in some),
                     'samples_per_s': statistics.median(statistics.mean(run['samples_per_s']) for run in some)})
    return rows


def main() -> None:
    given = arguments()
    make_environment(given.venvs)
    if given.wheel:
        subprocess.run([given.venvs / 'dlio/bin/pip', 'install', '-q', '--no-deps', '--force-reinstall', given.wheel],
                       check=True)
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='dlio-')))
        dlio = Dlio(given, work)
        dlio.generate('tfrecord')
        dlio.generate('npz', *TORCH, f'++workload.dataset.num_files_train={given.files * PER_FILE}')
        subprocess.run([given.recpack, 'index', work / 'tfrecord/train'], check=True, stdout=subprocess.DEVNULL)
        server = ObjectServer(work)
        stack.callback(server.close)
        store = {**server.environment(), 'RECPACK_CACHE': str(work / 'cache'),
                 'RECPACK_DLIO_DATA': 's3://tfrecord/train'}
        runs = []
        for _ in range(given.rounds):
            for accelerators in given.accelerators:
                for loader in LOADERS:
                    runs.append(dlio.train(loader, accelerators, **(store if 'store' in loader else {})))
                    print(runs[-1], flush=True)
        results = {'date': machine.today(), 'machine': machine.describe(work), 'load_average': os.getloadavg(),
                   'benchmark': 'DLIO (dlio_benchmark 2.0.0)', 'workload': WORKLOAD, 'files': given.files,
                   'epochs': given.epochs, 'threads': given.threads, 'rows': summed_up(runs), 'runs': runs}
    print(json.dumps(results['rows'], indent=1))
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
