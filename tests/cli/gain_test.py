"""Tests of recprobe gain. Simulated devices sleep, so that a busy machine changes little."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from figures_of_time import judges_time
from launching import free_port
from support import CIFAR, CliTest, DONE, FAILURE, hear_ctrl_c

RECPROBE = os.environ['RECPROBE']
RECTRAIN = os.environ.get('RECTRAIN')
# Few rounds are enough, without a time limit.
FEW_ROUNDS = ('--precision', '1000', '--seconds', '200', '--block-steps', '8')


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class GainTest(CliTest):
    def probe(self, *words, code=DONE, **options):
        done = subprocess.run([RECPROBE, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=240, **options)
        self.assertEqual(done.returncode, code, f'{words}\n{done.stdout}\n{done.stderr}')
        return done

    def gain(self, *words, code=DONE, **options):
        done = self.probe('gain', '--json', *words, code=code, **options)
        return json.loads(done.stdout.splitlines()[-1])

    def train(self, *flags):
        self.pack(CIFAR)
        return [RECTRAIN, 'train', self.folder / 'out', '--batch-size', '8', *flags]


@unittest.skipUnless(RECTRAIN, 'this build has no trainer')
class Training(GainTest):
    @judges_time
    def test_of_an_input_that_is_in_time_there_is_none(self):
        got = self.gain('--precision', '20', '--seconds', '40', '--block-steps', '8', '--',
                        *self.train('--devices', 'sim:20ms'))
        self.assertGreaterEqual(got['rounds'], 6)
        self.assertEqual(got['trainers'], 1)
        self.assertAlmostEqual(got['ratio']['value'], 1, delta=0.15)
        self.assertLess(got['samples_per_s']['live']['value'], 8 / 0.020)
        self.assertGreater(got['samples_per_s']['synthetic']['value'], 8 / 0.020 / 2)

    @judges_time
    def test_of_several_devices_each_is_a_trainer(self):
        got = self.gain('--precision', '30', '--seconds', '40', '--block-steps', '8', '--',
                        *self.train('--devices', 'sim:10ms,sim:10ms'))
        self.assertEqual(got['trainers'], 2)
        self.assertAlmostEqual(got['ratio']['value'], 1, delta=0.2)

    def test_devices_that_compute_and_exchange(self):
        got = self.gain(*FEW_ROUNDS, '--', *self.train('--devices', 'cpu:0,cpu:1', '--width', '4'))
        self.assertEqual(got['trainers'], 2)
        self.assertGreater(got['rounds'], 0)

    def test_several_processes_change_together(self):
        port = free_port()
        command = ' '.join(map(str, self.train('--width', '4')))
        script = ' & '.join(f'RANK={rank} WORLD_SIZE=2 LOCAL_RANK={rank} LOCAL_WORLD_SIZE=2 '
                            f'MASTER_ADDR=127.0.0.1 MASTER_PORT={port} {command}'
                            for rank in (0, 1))
        got = self.gain(*FEW_ROUNDS, '--', 'sh', '-c', script + ' & wait')
        self.assertEqual(got['trainers'], 2)
        self.assertGreater(got['rounds'], 0)

    def test_the_gain_comes_first_and_all_is_said_to_be_worth_nothing(self):
        done = self.probe('gain', *FEW_ROUNDS, '--', *self.train('--devices', 'sim:2ms'))
        text = done.stderr
        self.assertIn('an experiment', text[:text.index('gain of a perfect input')])
        self.assertIn('discard what this run has trained', text[text.index('gain of a perfect input'):])
        self.assertIn('starvation', text)

    def test_nothing_is_left_behind(self):
        command = self.train('--devices', 'cpu:0', '--width', '4', '--checkpoints',
                             self.folder / 'run', '--ledger', self.folder / 'ledger',
                             '--on-bad-record', 'substitute')
        before = set(os.listdir(self.folder))
        done = self.probe('gain', *FEW_ROUNDS, '--', *command,
                          env={**os.environ, 'TMPDIR': str(self.folder)})
        self.assertEqual(set(os.listdir(self.folder)), before)
        self.assertIn('left out: checkpoints, the ledger, evaluation', done.stderr)

    def test_a_training_that_the_command_leaves_behind_is_ended(self):
        pid = self.folder / 'pid'
        command = ' '.join(map(str, self.train('--devices', 'sim:2ms')))
        done = self.probe('gain', '--block-steps', '1000000', '--', 'sh', '-c',
                          f'{command} & echo $! > {pid}', code=FAILURE)
        self.assertIn('left processes behind', done.stderr)
        self.assertTrue(is_gone(int(pid.read_text())))

    def test_a_training_that_ends_before_a_round(self):
        got = self.gain('--', *self.train('--devices', 'sim:1ms', '--max-steps', '30'),
                        code=FAILURE)
        self.assertEqual(got['rounds'], 0)
        self.assertIn('ended after 30 batches, before the first round was complete; a round takes 121 steps',
                      ' '.join(got['notes']))

    def test_a_training_that_fails(self):
        done = self.probe('gain', '--', RECTRAIN, 'train', self.folder / 'nowhere', code=FAILURE)
        self.assertIn('nowhere', done.stderr)
        self.assertIn('the command ended with exit code 2', done.stderr)

    def test_a_signal_ends_it_with_what_there_is(self):
        probe = subprocess.Popen(
            list(map(str, [RECPROBE, 'gain', '--block-steps', '8', '--precision', '0', '--',
                           *self.train('--devices', 'sim:1ms')])),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)
        self.addCleanup(probe.kill)
        for line in probe.stderr:
            if 'experiment of recprobe gain' in line:  # of the trainer
                break
        probe.send_signal(signal.SIGINT)
        _, said = probe.communicate(timeout=60)
        self.assertEqual(probe.returncode, DONE if 'perfect input' in said else FAILURE, said)
        self.assertIn('gain', said)

    def test_the_environment_alone_makes_such_a_run(self):
        words = self.train('--devices', 'sim:1ms', '--max-steps', '100', '--checkpoints',
                           self.folder / 'run')
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60,
                              env={**os.environ, 'RECPACK_GAIN': '1:8'}, check=True)
        self.assertIn('experiment', done.stderr)
        self.assertFalse((self.folder / 'run').exists())
        wrong = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60,
                               env={**os.environ, 'RECPACK_GAIN': 'yes'}, check=False)
        self.assertEqual(wrong.returncode, FAILURE)
        self.assertIn("RECPACK_GAIN is 'yes'", wrong.stderr)


class Commands(GainTest):
    def test_programs_without_our_loader(self):
        done = self.probe('gain', '--', 'true', code=FAILURE)
        self.assertIn('no recpack loader', done.stderr)
        self.assertIn('--against', done.stderr)
        done = self.probe('gain', '--seconds', '0.5', '--', 'sleep', '60', code=FAILURE)
        self.assertIn('within --seconds', done.stderr)

    def test_exit_codes_are_the_commands(self):
        self.probe('gain', '--', 'sh', '-c', 'exit 7', code=7)
        self.probe('gain', '--', 'no-such-program-here', code=127)

    def test_what_makes_no_sense(self):
        for words in (['gain'], ['gain', '--block-steps', '3', '--', 'true'],
                      ['gain', '--seconds', '0', '--', 'true'],
                      ['gain', '--rounds', '3', '--', 'true'],
                      ['gain', '--against', 'true', '--seconds', '3', '--', 'true']):
            self.probe(*words, code=FAILURE)


# A program that reports steps of a given length.
STEPS = r'''
import os, struct, sys, time
seconds = float(sys.argv[1])
path = os.path.join(os.environ['RECPACK_EVENTS'], f'{os.getpid()}-test.events')
with open(path, 'wb', buffering=0) as file:
    now = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    record = lambda kind, begin, end, value: struct.pack(
        '<BBHIIIqqQ', kind, 0, 0, os.getpid(), 0, 0, begin, end, value)
    file.write(record(0, now(), 0, int.from_bytes(b'RCPKEVT1', 'little')))
    for step in range(int(sys.argv[2])):
        begin = now()
        time.sleep(seconds)
        file.write(record(2, begin, now(), step))
'''


class Against(GainTest):
    def setUp(self):
        super().setUp()
        self.script = self.folder / 'steps.py'
        self.script.write_text(STEPS)

    def steps(self, seconds, count=60):
        return [sys.executable, self.script, seconds, count]

    @judges_time
    def test_the_ratio_of_two_programs(self):
        fast = ' '.join(map(str, self.steps(0.01)))
        done = self.probe('gain', '--json', '--against', fast, '--rounds', '3', '--',
                          *self.steps(0.05))
        got = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(got['rounds'], 3)
        self.assertGreater(got['ratio']['value'], 1.5)
        self.assertGreater(got['gain']['value'], 20)
        self.assertLess(got['ratio']['low'], got['ratio']['value'])
        order = re.findall(r'round \d of 3: (the \w+ ?\w*) made', done.stderr)
        self.assertEqual(order, ['the command', 'the other command', 'the other command',
                                 'the command', 'the command', 'the other command'])

    def test_a_signal_ends_it_where_the_command_ends_well_by_it(self):
        script = 'trap "exit 0" INT; echo ready; while :; do sleep 0.01; done'
        probe = subprocess.Popen([RECPROBE, 'gain', '--against', 'true', '--', 'sh', '-c', script],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 preexec_fn=hear_ctrl_c)
        self.addCleanup(probe.kill)
        self.assertEqual(probe.stdout.readline(), 'ready\n')
        probe.send_signal(signal.SIGINT)
        _, said = probe.communicate(timeout=60)
        self.assertEqual(probe.returncode, 128 + signal.SIGINT, said)
        self.assertIn('stopped by signal 2', said)

    @judges_time  # depends on the number of steps in a given time
    def test_a_run_may_be_ended(self):
        endless = self.steps(0.01, 1_000_000)
        done = self.probe('gain', '--against', ' '.join(map(str, endless)), '--rounds', '3',
                          '--run-seconds', '2', '--', *endless)
        self.assertIn('times as fast', done.stderr)

    def test_what_a_run_leaves_behind_does_not_disturb_the_next(self):
        pids = self.folder / 'pids'
        steps = ' '.join(map(str, self.steps(0.001)))
        done = self.probe('gain', '--against', steps, '--rounds', '3', '--', 'sh', '-c',
                          f'sleep 1000 & echo $! >> {pids}; exec {steps}')
        self.assertEqual(done.stderr.count('left processes behind'), 3)
        self.assertTrue(all(is_gone(int(pid)) for pid in pids.read_text().split()))

    def test_programs_that_show_no_steps(self):
        done = self.probe('gain', '--against', 'true', '--', 'true', code=FAILURE)
        self.assertIn('no steps of the command were seen', done.stderr)
        done = self.probe('gain', '--against', 'true', '--', *self.steps(0.001), code=FAILURE)
        self.assertIn('no steps of the other command were seen', done.stderr)

    def test_programs_that_fail(self):
        self.probe('gain', '--against', 'exit 9', '--', *self.steps(0.001), code=9)
        self.probe('gain', '--against', 'true', '--', 'sh', '-c', 'exit 4', code=4)
        self.probe('gain', '--against', 'true', '--', 'no-such-program-here', code=127)


if __name__ == '__main__':
    unittest.main()
