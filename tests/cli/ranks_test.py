"""Tests rectrain train with several processes, started by environment variables and by mpirun."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from launching import clean_environment, free_port
from support import CIFAR, CliTest

RECTRAIN = os.environ['RECTRAIN']
MPIRUN = os.environ.get('MPIRUN', '').split()
SERVED = ('--strategy', 'parameter_server')


class Ranks(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / 'out'
        self.pack(CIFAR / 'cifar-10-batches-py')

    def command(self, *arguments, data=None):
        command = [RECTRAIN, 'train', data or self.out, '--width', '8', '--threads', '1']
        if '--batch-size' not in arguments:
            command += ['--batch-size', '8']
        return command + [str(argument) for argument in arguments]

    def start(self, commands, size=None, machines=None):
        """Starts a process per argument list, as torchrun would.

        size: the job's world size, if larger; machines: a name for each rank's."""
        port = free_port()
        processes = []
        for rank, command in enumerate(commands):
            named = {'RECPACK_MACHINE': machines[rank]} if machines else {}
            environment = clean_environment(RANK=rank, WORLD_SIZE=size or len(commands),
                                            MASTER_ADDR='127.0.0.1', MASTER_PORT=port, **named)
            processes.append(subprocess.Popen(command, env=environment, text=True,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return processes

    def together(self, *arguments, ranks=2, code=0, machines=None):
        """Returns the first process's output; the others print nothing."""
        outcomes = self.outcomes(self.start([self.command(*arguments)] * ranks, machines=machines))
        for status, out, err in outcomes:
            self.assertEqual(status, code, err)
        for _, out, _ in outcomes[1:]:
            self.assertEqual(out, '')
        return outcomes[0][1]

    def outcomes(self, processes):
        outcomes = []
        for process in processes:
            out, err = process.communicate(timeout=900)
            outcomes.append((process.returncode, out, err))
        return outcomes

    def alone(self, *arguments):
        return subprocess.run(self.command(*arguments), env=clean_environment(), check=True,
                              capture_output=True, text=True, timeout=900).stdout

    def scores(self, out):
        return [{kind: epoch[kind] for kind in ('steps', 'train', 'evaluation')}
                for epoch in json.loads(out)['epochs']]

    def test_are_the_devices_of_one_process(self):
        expected = self.scores(self.alone('--epochs', 2, '--devices', 'cpu:0,cpu:1', '--json'))
        for more in [(), ('--strategy', 'distributed_replicated'), SERVED,
                     (*SERVED, '--variables', 'spread')]:
            self.assertEqual(self.scores(self.together('--epochs', 2, '--json', *more)), expected)

    def test_sum_within_machines_first(self):
        def losses(*more, **where):
            scores = self.scores(self.together('--epochs', 2, '--json', '--batch-size', 4, *more, ranks=4, **where))
            return [epoch['train']['loss'] for epoch in scores]
        on_one = losses()
        on_two = losses(machines='aabb')
        self.assertNotEqual(on_two, on_one)  # in the last bits
        for mine, other in zip(on_two, on_one, strict=True):
            self.assertAlmostEqual(mine, other, delta=0.2)  # a few steps at a high rate
        self.assertEqual(losses(machines='aabb'), on_two)
        self.assertEqual(losses('--one-level', machines='aabb'), on_one)
        self.assertEqual(losses(machines='aaab'), on_one)  # not equally many on each

    def test_are_audited_together(self):
        self.damage_records(5, 17, 40)
        ledger = self.folder / 'ledger'
        out = self.together('--epochs', 1, '--json', '--on-bad-record', 'substitute', '--max-bad',
                            '10%', '--ledger', ledger, '--checkpoints', self.folder / 'run')
        audit = {'holds': True, 'samples': 64, 'epoch_samples': 64, 'substituted': 3}
        self.assertEqual([epoch['audit'] for epoch in json.loads(out)['epochs']], [audit])
        told = [json.loads(line) for of in ('ledger', 'ledger.1')
                for line in (self.folder / of).read_text().splitlines()]
        self.assertEqual(sorted(each['record'] for each in told if each['epoch'] == 0), [5, 17, 40])

    def test_of_mpirun(self):
        if not MPIRUN:
            self.skipTest('this build has no MPI, or there is no mpirun')
        def run(*arguments):
            return subprocess.run([*MPIRUN, '2', *self.command(*arguments)],
                                  env=clean_environment(), capture_output=True, text=True,
                                  timeout=900)
        arguments = ('--epochs', 1, '--json', '--bn', 'sync')
        expected = self.scores(self.alone(*arguments, '--devices', 'cpu:0,cpu:1'))
        for more in (), SERVED:
            done = run(*arguments, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.scores(done.stdout), expected)
        done = run('--epochs', 1000000, '--lr', '1e30')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('is not a number', done.stderr)

    def test_go_on_from_checkpoints_of_the_first(self):
        for strategy in 'distributed_replicated', 'parameter_server':
            run, same = self.folder / f'run-{strategy}', self.folder / f'same-{strategy}'
            each = ('--strategy', strategy, '--epochs', 3, '--json')
            whole = self.scores(self.together(*each))
            self.together(*each[:3], 2, '--schedule-epochs', 3, '--checkpoints', run)
            shutil.copytree(run, same)
            rest = self.scores(self.together(*each, '--resume', run))
            self.assertEqual(len(rest), 1)
            alone = self.scores(self.alone('--epochs', 3, '--json', '--devices', 'cpu:0,cpu:1',
                                           '--resume', same))
            self.assertEqual(rest, alone)
            self.assertEqual(rest[0]['steps'], whole[2]['steps'])

    def test_a_rank_that_is_killed_ends_the_others(self):
        for strategy in (), SERVED:
            for killed in 1, 0:  # a parameter server's variables are with rank 0
                processes = self.start([self.command('--epochs', 1000000, *strategy)] * 2)
                self.assertIn('epoch 0', processes[0].stdout.readline())
                processes[killed].send_signal(signal.SIGKILL)
                status, _, err = self.outcomes(processes)[1 - killed]
                self.assertEqual(status, 2)
                self.assertIn(f'rank {killed} was lost', err)

    def test_wait_for_each_other_as_long_as_the_option_says(self):
        alone = self.start([self.command('--epochs', 1, '--process-timeout', 1)], size=2)
        (status, _, err), = self.outcomes(alone)
        self.assertEqual(status, 2)
        self.assertIn('within 1000 ms', err)
        command = self.command('--epochs', 1000000, '--process-timeout', 30)
        processes = self.start([command] * 2)
        self.assertIn('epoch 0', processes[0].stdout.readline())
        processes[1].send_signal(signal.SIGSTOP)
        (status, _, err), = self.outcomes(processes[:1])
        self.assertEqual(status, 2)
        self.assertRegex(err, 'rank 1 did not come to .* within 30000 ms')
        processes[1].send_signal(signal.SIGKILL)
        self.outcomes(processes[1:])

    def fails_at_one(self, command, reason):
        outcomes = self.outcomes(self.start([self.command('--epochs', 1000000), command]))
        for status, _, err in outcomes:
            self.assertEqual(status, 2)
            self.assertIn(reason, err)
        self.assertIn('rank 1 ended the run: ', outcomes[0][2])

    def test_a_failure_of_one_is_told_by_all(self):
        self.fails_at_one(self.command('--epochs', 1000000, data=self.folder / 'gone'), 'gone')
        self.fails_at_one(self.command('--epochs', 3), 'epochs: 3 at rank 1, 1000000 at rank 0')

    def test_a_mistake_in_the_command_of_one_is_told_by_the_others(self):
        right = self.command('--epochs', 1000000)
        for wrong, reason in [(('--epochs', 'many'), '--epochs'), (('--no-such-flag',), '--no-such'),
                              (('--devices', 'gpu:1'), "unknown device 'gpu:1'")]:
            for failing in 0, 1:
                commands = [right, right]
                commands[failing] = self.command(*wrong)
                outcomes = self.outcomes(self.start(commands))
                for status, _, err in outcomes:
                    self.assertEqual(status, 2)
                    self.assertIn(reason, err)
                self.assertIn(f'rank {failing} ended the run: ', outcomes[1 - failing][2])
                self.assertNotIn('ended the run', outcomes[failing][2])
        for status, _, err in self.outcomes(self.start([self.command('--no-such-flag')] * 2)):
            self.assertEqual(status, 2)
            self.assertIn('--no-such-flag', err)

    def test_a_rank_of_mpi_that_is_killed_ends_the_job(self):
        if not MPIRUN:
            self.skipTest('this build has no MPI, or there is no mpirun')
        with subprocess.Popen([*MPIRUN, '2', *self.command('--epochs', 1000000)], text=True,
                              env=clean_environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as job:
            self.assertIn('epoch 0', job.stdout.readline())
            children = pathlib.Path(f'/proc/{job.pid}/task/{job.pid}/children').read_text().split()
            ranks = [int(child) for child in children
                     if 'rectrain' in pathlib.Path(f'/proc/{child}/comm').read_text()]
            self.assertEqual(len(ranks), 2)
            os.kill(ranks[1], signal.SIGKILL)
            _, err = job.communicate(timeout=900)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(err, r'signal 9|KILLED|Killed|was lost')
        while not self.ended(ranks[0]):
            time.sleep(0.1)

    def ended(self, process):
        try:
            return pathlib.Path(f'/proc/{process}/stat').read_text().split(') ')[1][0] == 'Z'
        except FileNotFoundError:
            return True

    def test_of_srun(self):
        expected = self.scores(self.alone('--epochs', 1, '--devices', 'cpu:0,cpu:1', '--json'))
        processes = []
        while (port := free_port()) not in range(15_000, 25_000):
            pass
        job = 1_230_000 + port - 15_000  # the port is made of it
        for rank in 0, 1:
            environment = clean_environment(
                SLURM_JOB_ID=job, SLURM_PROCID=rank, SLURM_LOCALID=rank, SLURM_NODEID=0,
                SLURM_NTASKS=2, SLURM_STEP_NUM_TASKS=2, SLURM_STEP_TASKS_PER_NODE='2',
                SLURM_JOB_NUM_NODES=1, SLURM_STEP_NUM_NODES=1, SLURM_STEP_NODELIST='node7',
                SLURM_JOB_NODELIST='node7')
            processes.append(subprocess.Popen(self.command('--epochs', 1, '--json', *SERVED),
                                              text=True, env=environment, stdout=subprocess.PIPE,
                                              stderr=subprocess.PIPE))
        (status, out, err), (other, nothing, _) = self.outcomes(processes)
        self.assertEqual((status, other, nothing), (0, 0, ''), err)
        self.assertEqual(self.scores(out), expected)

    def test_refuses(self):
        for arguments, reason in [
            (('--lr', '1e30'), 'is not a number'),
            (('--batch-size', 40), 'has no batch of 40 for each of 2 devices'),
            ((*SERVED, '--async'), 'cannot be updated asynchronously by several processes'),
            (('--devices', 'sim:1ms'), 'several processes'),
        ]:
            for status, _, err in self.outcomes(self.start([self.command(*arguments)] * 2)):
                self.assertEqual(status, 2)
                self.assertIn(reason, err)


if __name__ == '__main__':
    unittest.main()
