"""DLIO (dlio_benchmark) in an environment of its own: generates a workload's files, and trains on them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from harness.entrants import ROOT

PACKAGES = ('hydra-core==1.3.8', 'omegaconf==2.3.1', 'antlr4-python3-runtime==4.9.3', 'pandas==3.1.1',
            'python-dateutil==4.0.0', 'psutil==7.2.2', 'mpi4py==4.1.2', 'pillow==13.0.0', 'PyYAML==6.0.4',
            'pydftracer==1.0.2', 'dlio_benchmark==2.0.0')
# DLIO 2.0.0 writes the names of all files into a text, which it throws away, for each sample that its PyTorch loader reads:
# milliseconds of processor time for thousands of files. The line is taken out, since it says nothing of the loader.
SLOW_LINE = '        logging.debug(f"{self.global_index_map}")\n'


def _packages_of(environment: pathlib.Path) -> pathlib.Path:
    return next((environment / 'lib').glob('python3*')) / 'site-packages'


def _take_out_slow_line(packages: pathlib.Path) -> None:
    reader = packages / 'dlio_benchmark/reader/reader_handler.py'
    reader.write_text(reader.read_text(encoding='utf-8').replace(SLOW_LINE, ''), encoding='utf-8')


def make_environment(venvs: pathlib.Path, wheel: pathlib.Path | None) -> None:
    """Makes VENVS/dlio if there is none, upon the packages of tf and vision; installs the wheel."""
    folder = venvs / 'dlio'
    if not (folder / 'bin/dlio_benchmark').exists():
        subprocess.run([sys.executable, '-m', 'venv', folder], check=True)
        subprocess.run([folder / 'bin/pip', 'install', '-q', '--no-deps', *PACKAGES], check=True)
        others = [_packages_of(venvs / name) for name in ('tf', 'vision')]
        (_packages_of(folder) / 'peers.pth').write_text(''.join(f'{other}\n' for other in others), encoding='utf-8')
    _take_out_slow_line(_packages_of(folder))
    if wheel:
        subprocess.run([folder / 'bin/pip', 'install', '-q', '--no-deps', '--force-reinstall', wheel], check=True)


class Dlio:
    """Runs DLIO with output and helpers in the folder `work`; `settings` are those of every run."""

    def __init__(self, venvs: pathlib.Path, work: pathlib.Path, settings: dict):
        self.venvs, self.work, self.settings = venvs, work, settings
        (work / 'bin').mkdir()
        (work / 'bin/tfrecord2idx').symlink_to('/bin/true')  # of DALI, which alone uses its index

    def environment(self, more: dict) -> dict:
        paths = [ROOT / 'examples/dlio', *filter(None, [os.environ.get('PYTHONPATH')])]
        return os.environ | more | {'PATH': f'{self.work / "bin"}:{os.environ["PATH"]}', 'CUDA_VISIBLE_DEVICES': '',
                                    'TF_CPP_MIN_LOG_LEVEL': '3', 'DFTRACER_ENABLE': '0',
                                    'PYTHONPATH': ':'.join(map(str, paths))}

    def versions(self) -> dict:
        program = ('from importlib.metadata import version; import recpack_io; print(recpack_io.__version__, '
                   '*map(version, ("dlio_benchmark", "tensorflow_cpu", "torch", "pillow")))')
        done = subprocess.run([self.venvs / 'dlio/bin/python', '-c', program], env=self.environment({}),
                              capture_output=True, text=True, check=True)
        return dict(zip(('recpack_io', 'dlio_benchmark', 'tensorflow', 'torch', 'pillow'), done.stdout.split()))

    def run(self, configuration: str, settings: dict, environment: dict) -> dict:
        """Returns DLIO's metric of the run; {} of one that does not train."""
        out = self.work / 'out'
        shutil.rmtree(out, ignore_errors=True)
        settings = self.settings | settings | {'output.folder': out}
        command = [self.venvs / 'dlio/bin/dlio_benchmark', f'workload={configuration}', f'hydra.run.dir={out}',
                   *(f'++workload.{name}={value}' for name, value in settings.items())]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment(environment), check=False)
        if done.returncode != 0:
            raise RuntimeError(f'{done.stdout[-2000:]}\n{done.stderr[-2000:]}')
        summary = out / 'summary.json'
        return json.loads(summary.read_text(encoding='utf-8'))['metric'] if summary.exists() else {}
