"""Array jobs and srun under Slurm's own daemons on this machine: packs whose shards are those of one process, and training ranks."""
import hashlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from support import CIFAR, RECPACK, ROOT, InFolder, free_port, main

RECTRAIN = os.environ.get('RECTRAIN', str(pathlib.Path(RECPACK).parents[1] / 'rectrain/rectrain'))
RECPROBE = os.environ.get('RECPROBE', str(pathlib.Path(RECPACK).parents[1] / 'recprobe/recprobe'))
PATH = os.environ['PATH'] + ':/usr/sbin:/sbin'
MISSING = [name for name in ('munged', 'slurmctld', 'slurmd', 'sbatch') if shutil.which(name, path=PATH) is None]
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={at}/munge.socket
CredType=cred/munge
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
Epilog={at}/epilog.sh
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def contents(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


class Daemons:
    """munged, slurmctld and slurmd in a folder of their own."""

    def __init__(self):
        self.at = pathlib.Path(tempfile.mkdtemp(prefix='recpack-slurm-'))
        os.chmod(self.at, 0o755)
        for name in 'state', 'spool':
            (self.at / name).mkdir()
        (self.at / 'key').write_bytes(os.urandom(128))
        os.chmod(self.at / 'key', 0o400)
        epilog = (ROOT / 'examples/slurm/epilog.sh').read_text('utf-8')
        (self.at / 'epilog.sh').write_text(epilog.replace('/shared/reports', f'{self.at}/reports')
                                           .replace('/usr/local/bin', str(pathlib.Path(RECPROBE).parent)), 'utf-8')
        os.chmod(self.at / 'epilog.sh', 0o755)
        host = socket.gethostname().partition('.')[0]
        (self.at / 'slurm.conf').write_text(CONFIGURATION.format(host=host, at=self.at, controller=free_port(), daemon=free_port()),
                                            encoding='utf-8')
        self.environment = os.environ | {'SLURM_CONF': str(self.at / 'slurm.conf')}
        self._running = []
        self._start('munged', '--foreground', '--force', f'--key-file={self.at}/key', f'--socket={self.at}/munge.socket',
                    f'--pid-file={self.at}/munge.pid', f'--log-file={self.at}/munge.log', f'--seed-file={self.at}/munge.seed')
        self._until(lambda: (self.at / 'munge.socket').exists())
        self._start('slurmctld', '-D', '-i', '-f', self.at / 'slurm.conf')
        self._start('slurmd', '-D', '-f', self.at / 'slurm.conf', '-N', host)
        self._until(lambda: 'idle' in self.run('sinfo', '--noheader', '--format=%T', check=False))

    def _start(self, name, *words):
        program = shutil.which(name, path=PATH)
        log = (self.at / f'{name}.out').open('w')
        self._running.append(subprocess.Popen([program, *map(str, words)], env=self.environment, stdout=log, stderr=log))
        log.close()

    def _until(self, holds):
        deadline = time.monotonic() + 60
        while not holds():
            if time.monotonic() > deadline or any(each.poll() is not None for each in self._running):
                said = ''.join(path.read_text()[-1500:] for path in self.at.glob('*.out'))
                self.end()
                raise AssertionError(f'Slurm did not start: {said}')
            time.sleep(0.1)

    def run(self, *command, check=True):
        done = subprocess.run(list(map(str, command)), env=self.environment, capture_output=True, text=True, check=False, timeout=300)
        if check and done.returncode != 0:
            raise AssertionError(f'{command}: {done.stdout}{done.stderr}')
        return done.stdout

    def end(self):
        for each in reversed(self._running):
            each.send_signal(signal.SIGTERM)
        for each in self._running:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
        shutil.rmtree(self.at, ignore_errors=True)


@unittest.skipIf(MISSING, f"{', '.join(MISSING)} not installed: tools/setup.sh --for interop")
class Slurm(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.slurm = Daemons()

    @classmethod
    def tearDownClass(cls):
        cls.slurm.end()

    def setUp(self):
        super().setUp()
        self.flags = ['--shard-size', '20KB', '--quiet']
        subprocess.run([RECPACK, 'pack', CIFAR, self.folder / 'one', *self.flags], check=True)

    def array(self, command, tasks):
        """Runs an array job to its end; returns what its tasks printed."""
        script = self.folder / 'job.sh'
        script.write_text(f'#!/bin/sh\n{command}\n', encoding='utf-8')
        self.slurm.run('sbatch', '--wait', f'--array=0-{tasks - 1}', f'--output={self.folder}/task-%a.log', f'--chdir={self.folder}', script)
        return ''.join(path.read_text() for path in self.folder.glob('task-*.log'))

    def test_an_array_job_packs_what_one_process_packs(self):
        said = self.array(f"srun {RECPACK} pack {CIFAR} {self.folder}/out --task auto {' '.join(self.flags)}", 5)
        self.assertEqual(contents(self.folder / 'out'), contents(self.folder / 'one'), said)

    def test_tasks_that_are_killed_are_run_again(self):
        out = self.folder / 'out'
        killed = self.folder / 'killed'
        # The first attempt of each task kills itself after some shards; Slurm requeues nothing here: the array is submitted again.
        command = (f'if [ ! -e {killed}-$SLURM_ARRAY_TASK_ID ]; then touch {killed}-$SLURM_ARRAY_TASK_ID; '
                   f"timeout --signal=KILL 0.02 {RECPACK} pack {CIFAR} {out} --task auto {' '.join(self.flags)}; exit 0; fi; "
                   f"{RECPACK} pack {CIFAR} {out} --task auto {' '.join(self.flags)}")
        self.array(command, 3)
        said = self.array(command, 3)
        self.assertEqual(contents(out), contents(self.folder / 'one'), said)

    def test_processes_of_srun_pack_together(self):
        self.slurm.run('srun', '--ntasks=3', RECPACK, 'pack', CIFAR, self.folder / 'out', '--task', 'auto', *self.flags)
        self.assertEqual(contents(self.folder / 'out'), contents(self.folder / 'one'))

    def test_an_epilog_sums_up_the_reports_of_a_job(self):
        reports = self.slurm.at / 'reports'
        script = self.folder / 'job.sh'
        script.write_text(f"#!/bin/sh\nsrun sh -c '{RECPROBE} run --report {reports}/$SLURM_JOB_ID/$SLURM_PROCID -- sleep 1'\n", 'utf-8')
        said = self.slurm.run('sbatch', '--wait', '--ntasks=2', f'--output={self.folder}/job.log', script)
        job = said.split()[-1]
        end = time.monotonic() + 60
        while not (reports / job / 'summary.txt').exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertIn('2 reports', (reports / job / 'summary.txt').read_text('utf-8'))
        # Jobs without reports end as well, and the node stays in service.
        self.slurm.run('srun', 'true')
        state = ''
        while state != 'idle' and time.monotonic() < end:
            state = self.slurm.run('sinfo', '--noheader', '--format=%T').strip()
            time.sleep(0.1)
        self.assertEqual(state, 'idle')

    @unittest.skipUnless(os.access(RECTRAIN, os.X_OK), 'rectrain is not built')
    def test_ranks_of_srun_train_together_and_their_reports_are_merged(self):
        reports = self.folder / 'reports'
        command = f'{RECPROBE} run --report {reports}/$SLURM_PROCID -- {RECTRAIN} train {self.folder}/one --width 8 --threads 1 ' \
                  '--batch-size 8 --epochs 2 --no-evaluation'
        said = self.slurm.run('srun', '--ntasks=2', f'--chdir={self.folder}', 'sh', '-c', command)
        self.assertIn('for the exchange of variables', said)  # one process alone exchanges nothing
        self.assertEqual(sorted(path.name for path in reports.iterdir()), ['0', '1'])
        self.assertIn('1 job, 2 reports', subprocess.run([RECPROBE, 'merge', reports], capture_output=True, text=True, check=True).stdout)


if __name__ == '__main__':
    main()
