"""Tests of recprobe run, attach and read, on trainings of rectrain and on other programs."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from figures_of_time import judges_time
from probe_program import EVENTS, ProbeCase, RECPROBE, RECTRAIN, growing, telling
from support import DONE, FAILURE, FINDING, GOLDEN, hear_ctrl_c


@unittest.skipUnless(RECTRAIN, 'this build has no trainer')
class Training(ProbeCase):
    @judges_time
    def test_a_device_that_is_slow_is_the_models_own_work(self):
        got = self.verdict('run', '--json', '--fail-above', '50%', '--',
                           *self.train('--devices', 'sim:30ms', '--epochs', '100',
                                       '--max-steps', '60'))
        self.assertEqual(got['steps'] + got['left_out'], 60)
        self.assertFalse(got['upper_bound'])
        self.assertGreater(got['breakdown']['device'], 0.5)
        self.assertAlmostEqual(sum(got['breakdown'].values()), 1, delta=0.01)

    def test_two_devices_that_exchange(self):
        got = self.verdict('run', '--json', '--',
                           *self.train('--devices', 'cpu:0,cpu:1', '--epochs', '50', '--max-steps',
                                       '12', '--width', '4'))
        self.assertEqual(got['steps'] + got['left_out'], 12)
        self.assertGreater(got['breakdown']['exchange'], 0)

    def test_the_verdict_comes_first_and_to_stderr(self):
        done = self.probe('run', '--',
                          *self.train('--devices', 'sim:5ms', '--max-steps', '30'))
        verdict = done.stderr[done.stderr.index('verdict: '):]
        self.assertIn('where a step\'s time goes', verdict)
        self.assertNotIn('verdict', done.stdout)
        self.assertTrue(all(len(line) <= 100 for line in verdict.splitlines()), verdict)

    @judges_time
    def test_attach_says_what_it_cannot_know(self):
        told = self.folder / 'told'
        with told.open('wb') as out:
            trainer = subprocess.Popen(
                list(map(str, self.train('--devices', 'sim:20ms', '--epochs', '1000000'))),
                stdout=out, stderr=subprocess.DEVNULL)
        self.addCleanup(trainer.wait)
        self.addCleanup(trainer.kill)
        while told.stat().st_size == 0:  # of its first epoch
            self.assertIsNone(trainer.poll())
            time.sleep(0.01)
        got = self.verdict('attach', '--pid', trainer.pid, '--seconds', '2', '--json')
        notes = ' '.join(got['notes'])
        self.assertIn('input wait: unavailable', notes)
        self.assertIn('recprobe run', notes)
        # The loader's own statistics are there: batches, and the waits of their consumer.
        self.assertGreater(got['steps'], 10)
        self.assertIn('may fetch them ahead', notes)
        self.assertIn(got['verdict'], ('not input-bound', 'undecided'))
        self.assertIsNone(trainer.poll(), 'the program went on')

    def test_copies_between_devices(self):
        self.run_recpack('stand-in', self.folder / 'made', '--kind', 'reviews', '--records', 200)
        self.pack(self.folder / 'made/reviews.jsonl', out='reviews')
        got = self.verdict('run', '--json', '--', RECTRAIN, 'train', self.folder / 'reviews',
                           '--model', 'deepconn', '--max-tokens', '64', '--dims', '64',
                           '--devices', 'cpu:0,cpu:1', '--place', 'alternate', '--batch-size', '16',
                           '--epochs', '20', '--max-steps', '30')
        self.assertGreater(got['breakdown']['device_copies'], 0)
        self.assertEqual(got['breakdown']['copies'], 0)
        self.assertGreater(got['breakdown']['device'], 0)


class Commands(ProbeCase):
    @judges_time
    def test_memory_that_grows_is_named(self):
        got = self.verdict('run', '--json', '--', *growing(True))
        self.assertRegex(' '.join(got['hints']), r'memory of process \d+ grows by 1\.[01] MB a step \[', got)
        self.assertNotIn('memory of', ' '.join(self.verdict('run', '--json', '--', *growing(False)).get('hints', [])))

    def test_a_program_that_is_no_training(self):
        got = self.verdict('run', '--json', '--', 'sleep', '0.2')
        self.assertEqual(got['verdict'], 'unknown')
        self.assertIn('input wait: unavailable', got['notes'][0])

    def test_one_that_ends_at_once(self):
        for command, code in (['true'], 0), (['false'], 1):
            got = self.verdict('run', '--json', '--', *command, code=code)
            self.assertEqual(got['verdict'], 'unknown')
            self.assertEqual(any('exit code 1' in note for note in got['notes']), code == 1)

    def test_one_that_forks_away(self):
        """The command ends but a process that it started in a new session runs on: a note says so."""
        child = self.folder / 'child'
        script = ('import os, sys, time\n'
                  'child = os.fork()\n'
                  'if child:\n'
                  '    open(sys.argv[1], "w").write(str(child))\n'
                  'else:\n'
                  '    os.setsid()\n'
                  '    for number in range(3): os.dup2(os.open(os.devnull, os.O_RDWR), number)\n'
                  '    time.sleep(600)\n')
        got = self.verdict('run', '--json', '--', sys.executable, '-c', script, child)
        os.kill(int(child.read_text()), signal.SIGKILL)
        self.assertIn('left by the command are still running', ' '.join(got['notes']))

    def test_one_that_is_killed_tells_what_it_did_before(self):
        """Its steps count, a note tells how it ended, and the exit code is that of a shell."""
        *python, script = EVENTS
        got = self.verdict('run', '--json', '--', *python, script + 'os.kill(os.getpid(), 9)\n',
                           code=128 + 9)
        self.assertEqual(got['steps'] + got['left_out'], 100)
        self.assertIn('signal 9', ' '.join(got['notes']))

    def anybodys(self):
        """A copy of the program that every user may run."""
        copy = self.folder / 'recprobe'
        copy.write_bytes(pathlib.Path(RECPROBE).read_bytes())
        copy.chmod(0o755)
        self.folder.chmod(0o755)
        return copy

    def test_without_any_right_it_sees_as_much_of_its_own_program(self):
        python = '/usr/bin/python3'
        if os.getuid() != 0 or not os.path.exists(python):
            self.skipTest('only root can become another user, who needs a Python')
        done = subprocess.run([self.anybodys(), 'run', '--json', '--', python, *EVENTS[1:]],
                              capture_output=True, text=True, timeout=60, check=False, cwd='/',
                              user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, DONE, done.stderr)
        got = json.loads(done.stdout)
        self.assertEqual((got['verdict'], got['steps']), ('highly input-bound', 95))
        self.assertNotIn('CAP_SYS_PTRACE', ' '.join(got['notes']))

    def test_a_signal_ends_attach_with_what_it_saw(self):
        process = subprocess.Popen(['sleep', '600'])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for number in signal.SIGINT, signal.SIGTERM:
            probe = subprocess.Popen([RECPROBE, 'attach', '--pid', str(process.pid), '--seconds',
                                      '6000', '--rate', '0.1', '--prometheus', '127.0.0.1:0'],
                                     stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)
            self.addCleanup(probe.kill)
            self.assertIn('http://', probe.stderr.readline())
            probe.send_signal(number)
            _, said = probe.communicate(timeout=60)
            self.assertEqual(probe.returncode, DONE, said)
            self.assertIn('verdict: ', said)
            self.assertIsNone(process.poll(), 'the program went on')

    def test_a_process_of_another_user(self):
        if os.getuid() != 0:
            self.skipTest('only root can start one')
        other = subprocess.Popen(['sleep', '60'], user=65534)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        done = subprocess.run([self.anybodys(), 'attach', '--pid', str(other.pid), '--seconds', '0.5',
                               '--json'], capture_output=True, text=True, timeout=60, user=65533,
                              check=False)
        self.assertEqual(done.returncode, DONE, done.stderr)
        notes = ' '.join(json.loads(done.stdout)['notes'])
        self.assertIn('belongs to user', notes)
        self.assertIn('CAP_SYS_PTRACE', notes)

    def test_exit_codes_pass_through(self):
        self.probe('run', '--', 'sh', '-c', 'exit 7', code=7)
        done = self.probe('run', '--', 'sh', '-c', 'kill -9 $$', code=128 + 9)
        self.assertIn('Killed', done.stderr)

    def test_commands_that_cannot_be_started(self):
        done = self.probe('run', '--', 'no-such-program-here', code=127)
        self.assertIn('no-such-program-here', done.stderr)
        self.assertNotIn('verdict', done.stderr)
        self.probe('run', '--', self.folder, code=126)

    def test_output_and_input_are_the_commands(self):
        done = subprocess.run([RECPROBE, 'run', '--', 'cat'], input='through', text=True,
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (DONE, 'through'))

    def test_a_signal_reaches_the_command(self):
        script = ('import signal, sys, time\n'
                  'signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n'
                  'print("ready", flush=True)\n'
                  'time.sleep(60)\n')
        probe = subprocess.Popen([RECPROBE, 'run', '--', sys.executable, '-c', script],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(probe.stdout.readline(), 'ready\n')
        probe.send_signal(signal.SIGTERM)
        _, said = probe.communicate(timeout=60)
        self.assertEqual(probe.returncode, 5, said)
        self.assertIn('verdict', said)

    def test_nothing_is_left_behind(self):
        before = set(os.listdir(self.folder))
        self.probe('run', '--', 'true', env={**os.environ, 'TMPDIR': str(self.folder)})
        self.assertEqual(set(os.listdir(self.folder)), before)

    def test_what_makes_no_sense(self):
        for words, saying in ((['attach', '--pid', '999999999'], 'no process'),
                              (['run', '--fail-above', 'much', '--', 'true'], '0.1% or 0.001'),
                              (['run', '--fail-above', '150%', '--', 'true'], '0.1% or 0.001'),
                              (['attach', '--pid', '0'], '--pid: must be above 0, not 0'),
                              (['attach', '--pid', '1', '--seconds', 'x'], 'must be above 0'),
                              (['run', '--rate', '0', '--', 'true'], '--rate'),
                              (['run'], 'command'),
                              (['attach'], '--pid'),
                              (['attach', '--pid', '1', '--fail-above', '5%'], 'not expected'),
                              (['attach', '--gpu', 'some'], '--gpu all'),
                              (['attach', '--gpu', 'all', '--pid', '1'], '--pid'),
                              (['walk'], 'choose one of: run, attach')):
            done = self.probe(*words, code=FAILURE)
            self.assertIn(saying, done.stderr)

    def test_a_folder_that_cannot_be_written_is_an_error(self):
        done = self.probe('run', '--', 'true', code=FAILURE,
                          env={**os.environ, 'TMPDIR': '/nowhere'})
        self.assertIn('/nowhere', done.stderr)


@unittest.skipUnless(os.environ.get('FAKE_NVML_FOLDER'), 'this build has no stand-in of NVML')
class Gpus(ProbeCase):
    GPU = 'devices 1\n0.utilization 97 1\n0.power 90000\n'

    def environment(self, script):
        path = self.folder / 'nvml'
        path.write_text(script)
        return {**os.environ, 'LD_LIBRARY_PATH': os.environ['FAKE_NVML_FOLDER'],
                'FAKE_NVML': str(path)}

    def sleeper(self):
        process = subprocess.Popen(['sleep', '600'])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_attach_to_all_that_compute_on_gpus(self):
        one, other = self.sleeper(), self.sleeper()
        script = self.GPU + f'0.processes {one.pid}:1 {other.pid}:1\n'
        got = self.verdict('attach', '--gpu', 'all', '--seconds', '1', '--json',
                           env=self.environment(script))
        self.assertEqual(got['verdict'], 'unknown', 'utilisation decides nothing')
        self.assertIn('GPU 0 is used 97.0 %', ' '.join(got['hints']))

    def test_it_ends_when_they_have_ended(self):
        process = self.sleeper()
        probe = subprocess.Popen(
            [RECPROBE, 'attach', '--gpu', '0', '--seconds', '6000', '--prometheus', '127.0.0.1:0'],
            env=self.environment(self.GPU + f'0.processes {process.pid}:1\n'),
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(probe.wait)
        self.addCleanup(probe.kill)
        self.assertIn('http://', probe.stderr.readline())  # it watches
        process.kill()
        process.wait()
        _, said = probe.communicate(timeout=240)
        self.assertEqual(probe.returncode, DONE, said)

    def test_what_cannot_be_joined(self):
        first = os.readlink('/proc/self/ns/pid') == 'pid:[4026531836]'
        none = 'no process computes' if first else '--pid=host'
        for script, gpu, saying in (
                (self.GPU, 'all', none),
                (self.GPU, '3', 'there is no GPU 3'),
                ('', 'all', 'Driver Not Loaded'),
                (self.GPU + 'fail nvmlDeviceGetComputeRunningProcesses_v3 4\n', 'all', '--pid')):
            done = self.probe('attach', '--gpu', gpu, code=FAILURE, env=self.environment(script))
            self.assertIn(saying, done.stderr)

    @judges_time  # samples before and after
    def test_a_gpu_that_is_lost_in_mid_run(self):
        env = self.environment(self.GPU)
        lost = self.folder / 'lost'
        lost.write_text(self.GPU + 'fail * 15\n')
        command = f'echo 0.processes $$:1 >> {env["FAKE_NVML"]}; sleep 2; mv {lost} {env["FAKE_NVML"]}; sleep 3'
        got = self.verdict('run', '--json', '--', 'sh', '-c', command, env=env)
        self.assertIn('GPU is lost', ' '.join(got['notes']))
        self.assertIn('GPU 0 is used 97.0 %', ' '.join(got['hints']), 'what was read stays')


def table_of(got, title):
    """The rows of the table of this title."""
    return next(table['rows'] for table in got['tables'] if table['title'] == title)


@unittest.skipUnless(RECTRAIN, 'without the trainer')
class TraceOfProcessors(ProbeCase):
    def trace(self, *flags):
        train = self.train('--max-steps', '4', '--epochs', '1', '--input', 'synthetic', *flags)
        done = self.probe('run', '--trace', '--json', '--', *train)
        return json.loads(done.stdout.splitlines()[-1])

    def test_each_layer_has_its_operations(self):
        got = self.trace('--model', 'resnet', '--width', '4')
        rows = {row['name']: row for row in table_of(got, 'Device activities')}
        for name in ('convolution forward conv1', 'convolution backward weights conv1',
                     'convolution backward data layer4.1.conv2', 'normalisation forward bn1',
                     'normalisation backward layer1.0.bn1', 'matrix product forward fc',
                     'pooling backward avgpool', 'loss softmax cross entropy', 'optimiser SGD'):
            self.assertIn(name, rows)
            self.assertGreaterEqual(rows[name]['calls'], 4)
        self.assertNotIn('', rows)
        self.assertNotIn('convolution backward data conv1', rows)  # images have no gradient
        self.assertNotIn('other', [row['operation'] for row in rows.values()])
        self.assertEqual(len([row for row in table_of(got, 'Operations')
                              if row['name'].startswith('convolution')]), 3)
        self.assertEqual(len(got['devices']), 1)
        self.assertEqual(len(got['devices'][0]['at_once_ns']), 2, 'one operation at a time')

    def test_each_device_reports_its_own(self):
        got = self.trace('--devices', 'cpu:0,cpu:1', '--model', 'resnet', '--width', '4')
        self.assertEqual(len(got['devices']), 2)

    def test_without_it_a_step_is_one_event(self):
        train = self.train('--max-steps', '4', '--epochs', '1', '--input', 'synthetic')
        kept = self.folder / 'kept'
        self.probe('run', '--json', '--keep', kept, '--', *train)
        got = json.loads(self.probe('read', kept, '--json').stdout)
        self.assertEqual([row['name'] for row in table_of(got, 'Device activities')], [''])


@unittest.skipUnless(os.environ.get('FAKE_CUDA_PROGRAM'), 'this build has no CUPTI')
class Trace(ProbeCase):
    def test_of_a_program_that_calls_cuda(self):
        script = self.folder / 'script'
        script.write_text('kernel 1 7 1000 1500 _Z3addPfS_i\n')
        env = {**os.environ, 'RECPACK_CUPTI': os.environ['FAKE_CUPTI_LIBRARY'],
               'FAKE_CUPTI': str(script)}
        done = self.probe('run', '--trace', '--json', '--', os.environ['FAKE_CUDA_PROGRAM'],
                          env=env)
        got = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(got['verdict'], 'unknown')
        rows = table_of(got, 'Device activities')
        self.assertEqual(rows[0]['name'], 'add(float*, float*, int)')
        self.assertEqual(rows[0]['operation'], 'other')
        self.assertEqual(rows[0]['time_ns'], 500)
        self.assertEqual(len(got['devices']), 1)

    def test_a_profiler_that_is_asked_for_already_is_not_pushed_aside(self):
        for name in 'CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH':
            done = self.probe('run', '--trace', '--', 'touch', self.folder / 'ran', code=FAILURE,
                              env={**os.environ, name: '/nsys/lib.so'})
            self.assertIn('/nsys/lib.so', done.stderr)
            self.assertIn('without --trace', done.stderr)
            self.assertFalse((self.folder / 'ran').exists())

    def test_where_cupti_is_not_there_it_says_so(self):
        env = {**os.environ, 'RECPACK_CUPTI': '/nowhere/libcupti.so'}
        done = self.probe('run', '--trace', '--', os.environ['FAKE_CUDA_PROGRAM'], env=env)
        self.assertIn('/nowhere/libcupti.so', ' '.join(done.stderr.split()))


class Read(ProbeCase):
    def test_traces_of_pytorchs_profiler(self):
        for name in 'cpu.json.gz', 'cuda.json':
            trace = GOLDEN / 'kineto' / name
            got = json.loads(self.probe('read', trace, '--json').stdout)
            self.assertGreater(len(got['tables']), 0)
            for table in got['tables']:
                self.assertEqual(sum(row['time_ns'] for row in table['rows']), table['time_ns'])
            self.assertEqual(len(got['devices']) > 0, name == 'cuda.json')
            self.assertIn('verdict: ', self.probe('read', trace).stdout)

    def test_exports_of_nsight_systems(self):
        trace = GOLDEN / 'nsight' / 'two_gpus.sqlite'
        got = json.loads(self.probe('read', trace, '--json').stdout)
        peers = next(row for row in table_of(got, 'Operations') if row['name'] == 'copy PtoP')
        self.assertEqual((peers['calls'], peers['min_ns'], peers['max_ns'], peers['avg_ns']),
                         (24, 20_000, 31_000, 25_500))
        self.assertEqual([use['streams'] for use in got['devices']], [2, 2])
        self.assertEqual(got['steps'], 10)
        text = self.probe('read', trace).stdout
        self.assertIn('kernels at once, on 2 streams: ', text)
        self.assertIn('convolution backward data     sm80_xmma_dgrad', text)

    def test_traces_of_tensorflows_profiler(self):
        got = json.loads(self.probe('read', GOLDEN / 'xplane' / 'cpu.xplane.pb', '--json').stdout)
        self.assertEqual(got['steps'], 11)
        self.assertIn('convolution forward', [row['name'] for row in table_of(got, 'Operations')])
        got = json.loads(self.probe('read', GOLDEN / 'xplane' / 'gpu.xplane.pb', '--json').stdout)
        self.assertEqual([use['device'] for use in got['devices']], [1])

    def test_what_is_no_trace(self):
        path = self.folder / 'x.json'
        path.write_text('{"traceEvents": [')
        for name, saying in ((path, 'x.json'), (self.folder / 'none.json', 'none.json'),
                             (self.folder, 'has no events')):
            done = self.probe('read', name, code=FAILURE)
            self.assertEqual(done.stdout, '')
            self.assertIn(saying, done.stderr)


class FailAbove(ProbeCase):
    def test_exits_with_a_finding(self):
        command = ['--', *EVENTS]
        got = self.verdict('run', '--json', '--fail-above', '20%', *command, code=FINDING)
        self.assertEqual(got['verdict'], 'highly input-bound')
        self.assertAlmostEqual(got['input_share']['value'], 0.3)
        self.assertAlmostEqual(got['gain']['value'], 3 / 7)
        self.verdict('run', '--json', '--fail-above', '31%', *command)
        kept = self.folder / 'kept'
        self.verdict('run', '--json', '--keep', kept, *command)
        again = json.loads(self.probe('read', kept, '--json').stdout)
        self.assertEqual(again['input_share'], got['input_share'])
        # The folder records that the machine has no accelerators: waits are not an upper bound then,
        # although no device is reported.
        silent = ['--', *telling('put(3, 0, 1, at, at + 3_000)')]
        got = self.verdict('run', '--json', '--keep', self.folder / 'silent', *silent)
        again = json.loads(self.probe('read', self.folder / 'silent', '--json').stdout)
        self.assertEqual(again['input_share'], got['input_share'])
        done = self.probe('run', '--keep', kept, *command, code=FAILURE)
        self.assertIn('is not empty', done.stderr)
        self.verdict('run', '--json', '--fail-above', '0.2', '--no-hook', *command, code=FINDING)


if __name__ == '__main__':
    unittest.main()
