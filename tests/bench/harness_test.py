"""The benches' harness: turns, ratios within a round, verdicts, and reasons instead of figures."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench'))

from harness.entrants import (OURS, PEER, REFERENCE, Entrant, Process, Program, Report, Reported,
                              Sample, ServedPeer, ServedProgram, Setting, Unavailable)
import row
from harness import loader_rows, python_rows, records_rows
from harness import results as kept
from harness.measure import Row, measure
from harness.program import in_order, keep_elsewhere, rows_of
from harness.table import cells, loses, table

TURNS = []

# Works in a child of its own, too, and awaits work of it in each turn.
SERVER = """
import json, os, subprocess, sys, time
open(sys.argv[1], 'w').close()
child = 'while true; do printf x >> "$0"; sleep 0.01; done'
subprocess.Popen(['sh', '-c', child, sys.argv[1]])
print(json.dumps({'version': '1', 'config': ''}), flush=True)
for line in sys.stdin:
    before = os.path.getsize(sys.argv[1])
    while os.path.getsize(sys.argv[1]) == before:
        time.sleep(0.01)
    print(json.dumps({'seconds': 1, 'records': 1, 'bytes': 1}), flush=True)
"""


def alive_in(group):
    """Processes of a group that are not over: whoever inherits them may not ask for their end."""
    alive = []
    for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            state, _, its_group = stat.read_text(encoding='utf-8', errors='replace').rpartition(')')[2].split()[:3]
        except OSError:
            continue  # it ended meanwhile
        if int(its_group) == group and state not in 'ZX':
            alive.append(stat.parent.name)
    return alive


class Scripted(Entrant):
    """Takes the seconds it was told to, one a round, and 99 to warm up; None: unavailable."""

    def __init__(self, label, role, seconds):
        super().__init__(label, role)
        self.seconds = [99, *seconds] if len(seconds) > 1 else list(seconds)

    def run(self):
        TURNS.append(self.label)
        seconds = self.seconds.pop(0)
        if seconds is None:
            raise Unavailable('it broke')
        return Sample(seconds, peak_mb=10)


class Harness(unittest.TestCase):
    def setUp(self):
        TURNS.clear()
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        self.setting = Setting(self.work, self.work, self.work, self.work / 'venvs')

    def measure(self, entrants, targets=None, reps=3, **more):
        row = Row('row', 'a row', 100, entrants, targets or {}, **more)
        return measure(row, self.setting, reps, lambda text: None)

    def test_all_take_turns_and_none_is_always_first(self):
        self.measure([Scripted('a', OURS, [1, 1]), Scripted('b', PEER, [1, 1])], reps=2)
        self.assertEqual(TURNS[2:], ['a', 'b', 'b', 'a'])

    def test_a_warm_row_has_an_uncounted_round_and_a_cold_one_has_none(self):
        warm = self.measure([Scripted('a', OURS, [1, 1])], reps=2)
        self.assertEqual((warm['cache'], warm['entrants'][0]['seconds']['max']), ('warm', 1))
        cold = self.measure([Scripted('a', OURS, [2, 2])], reps=2, cold=lambda _: 'magic')
        self.assertEqual((cold['cache'], cold['entrants'][0]['seconds']['max']),
                         ('cold, by magic', 99))

    def test_what_is_to_be_warm_is_read_before_each_turn_of_who_reads_it(self):
        def read_so_far():
            return int(pathlib.Path('/proc/self/io').read_text(encoding='ascii').split()[1])
        (self.work / 'data' / 'deep').mkdir(parents=True)
        (self.work / 'data' / 'deep' / 'a').write_bytes(b'a' * 20_000_000)
        before = read_so_far()
        self.measure([Scripted('a', OURS, [1, 1]), Scripted('b', PEER, [1, 1])], reps=2,
                     warm={'a': '{work}/data', 'b': '{work}/none'})
        self.assertEqual((read_so_far() - before) // 20_000_000, 3)

    def test_ratios_are_taken_within_a_round(self):
        """The machine slows down fourfold for a round: the ratio does not move."""
        result = self.measure([Scripted('a', OURS, [1, 4, 1]), Scripted('b', PEER, [2, 8, 2])])
        self.assertEqual(result['ratios']['b'], {'median': 2, 'min': 2, 'max': 2})

    def test_a_target_for_peers_is_about_the_best_of_them(self):
        result = self.measure([Scripted('a', OURS, [1] * 3), Scripted('slow', PEER, [9] * 3),
                               Scripted('fast', PEER, [1.5] * 3)], {PEER: 2, 'slow': 9})
        self.assertEqual([t['met'] for t in result['targets']], [False, True])
        self.assertAlmostEqual(result['targets'][0]['reached'], 1.5)

    def test_a_target_may_name_which_of_ours_it_is_about(self):
        result = self.measure([Scripted('a', OURS, [1] * 3), Scripted('c', OURS, [2] * 3),
                               Scripted('b', PEER, [4] * 3)], {PEER: 3, f'c against {PEER}': 3})
        self.assertEqual([t['reached'] for t in result['targets']], [4, 2])
        self.assertEqual(result['ratios']['b']['median'], 4)
        self.assertEqual(cells(result)[1], 'a 100/s; c 50/s')

    def test_a_figure_that_is_not_there_is_a_reason_and_no_target_is_met(self):
        result = self.measure([Scripted('a', OURS, [1] * 3), Scripted('b', PEER, [1, None, 1])],
                              {'b': 0.1})
        self.assertEqual(result['entrants'][1]['unavailable'], 'it broke')
        self.assertNotIn('b', result['ratios'])
        self.assertEqual(result['targets'][0]['reached'], 'unavailable: it broke')
        self.assertFalse(result['targets'][0]['met'])

    def test_nobody_is_compared_with_us_when_we_are_not_there(self):
        result = self.measure([Scripted('a', OURS, [None, None]), Scripted('b', PEER, [1] * 3)],
                              {PEER: 1})
        self.assertEqual(result['ratios'], {})
        self.assertFalse(result['targets'][0]['met'])

    def test_memory_is_the_peak_of_the_process(self):
        result = self.measure([Scripted('a', OURS, [1] * 3)], unit='MB')
        self.assertEqual(result['entrants'][0]['figure']['median'], 10)

    def test_the_table_says_where_we_lose(self):
        won = self.measure([Scripted('a', OURS, [1] * 3), Scripted('b', PEER, [2] * 3),
                            Scripted('c', REFERENCE, [0.5] * 3)])
        lost = self.measure([Scripted('a', OURS, [4] * 3), Scripted('b', PEER, [2] * 3)])
        self.assertFalse(loses(won))
        self.assertTrue(loses(lost))
        self.assertEqual(cells(won), ['a row', '100/s', 'b 50/s (2.00×)', 'c 200/s (0.50×)', '–'])
        text = table({'rows': [won, lost], 'reps': 3, 'date': '2026-01-01T00:00:00+00:00',
                      'machine': {'cpu': 'X', 'avx512': True, 'cores': 2, 'system': 'Y'}})
        self.assertIn('| a row | 25/s | b 50/s (0.50×) | – |', text.split('Where we lose:')[1].split('The others:')[0])

    def test_rows_of_several_machines_are_marked(self):
        one = {'cpu': 'X', 'avx512': True, 'cores': 2, 'system': 'Y'}
        other = one | {'avx512': False}
        first = self.measure([Scripted('a', OURS, [1] * 3)]) | {'date': '2026-01-01T00:00:00+00:00'}
        second = first | {'machine': other, 'date': '2026-01-02T00:00:00+00:00'}
        results = {'rows': [first, second], 'reps': 3, 'date': '2026-01-02T00:00:00+00:00', 'machine': one}
        text = table(results)
        self.assertIn('| a row [a] |', text)
        self.assertIn('| a row [b] |', text)
        self.assertIn('[a] 2026-01-01, X (AVX-512), 2 cores, Y; [b] 2026-01-02, X (no AVX-512), 2 cores, Y; medians', text)
        self.assertIn('| a row |', table(results | {'rows': [first]}))

    def test_rows_that_stay_keep_their_machine(self):
        out = self.work / 'old.json'
        out.write_text(json.dumps({'machine': {'cpu': 'X'}, 'rows': [{'name': 'p'}, {'name': 'q', 'machine': {'cpu': 'Z'}}]}))
        self.assertEqual({name: r['machine']['cpu'] for name, r in rows_of(out).items()}, {'p': 'X', 'q': 'Z'})

    def test_figures_of_another_kind_of_machine_stay(self):
        def row(name, avx512, figure):
            return {'name': name, 'machine': {'avx512': avx512}, 'figure': figure}
        measured = {'p': row('p', False, 1), 'q': row('q', True, 2)}
        keep_elsewhere(measured, row('p', True, 3))
        keep_elsewhere(measured, row('q', True, 4))
        self.assertEqual([(each['name'], each['figure']) for each in in_order(measured, ['q', 'p'])],
                         [('q', 4), ('p', 3), ('p@avx2', 1)])
        keep_elsewhere(measured, row('p', False, 5))
        self.assertEqual([(each['name'], each['figure']) for each in in_order(measured, ['p'])],
                         [('p', 5), ('p@avx512', 3)])

    def test_a_row_states_its_terms_and_why_it_has_no_peer(self):
        alone = self.measure([Scripted('a', OURS, [1] * 3)], terms='1 GB, warm', alone='nobody does it')
        self.assertEqual(cells(alone)[-1], '1 GB, warm; no peer: nobody does it')
        for module in records_rows, loader_rows, python_rows:
            for each in module.all_rows(self.setting):
                self.assertTrue(each.terms, each.name)
                self.assertEqual(bool(each.alone), not any(e.role == PEER for e in each.entrants), each.name)

    def test_a_row_is_measured_by_one_command(self):
        out = self.work / 'row.json'
        for name, (file, each) in row.all_rows().items():
            last = row.commands(file, each, self.work, out)[-1]
            self.assertEqual(last[-4:], ['--rows', name, '--out', str(out)])
            self.assertTrue((ROOT / last[1]).is_file())
        known = re.search(r'^known=\((.*)\)', (ROOT / 'bench/peers/setup.sh').read_text(), re.M).group(1).split()
        for file, each in row.all_rows().values():
            self.assertLessEqual(set(row.environments(file, each)), set(known))
        here = self.measure([Scripted('a', OURS, [1] * 3)])
        self.assertIn('| measured now | a row | 100/s |', row.compare(None, here))
        self.assertIn(f"| published, {here['date'][:10]} | a row | 100/s |", row.compare(here, here))

    def test_placements_have_a_table_of_their_own(self):
        class Placed(Scripted):
            def run(self):
                return dataclasses.replace(super().run(),
                                           more={'copies': 3, 'copy_share': 0.125})
        row = self.measure([Placed('towers on two', OURS, [1, 1, 1]),
                            Scripted('alternating', OURS, [None])]) | {'name': 'placement'}
        epochs = row | {'name': 'placement-epochs'}
        text = table({'rows': [row, epochs], 'date': '2026-01-01', 'reps': 3,
                      'machine': {'cpu': '', 'avx512': False, 'cores': 2, 'system': ''}})
        self.assertIn('| towers on two | 100/s | 3 | 12.5 % | 22.5 s | 20.1 % |', text)
        self.assertIn('| alternating | unavailable: it broke | – | – | 23.0 s | 24.5 % |', text)
        self.assertIn('| towers on two | 1.0 s | 100/s | 3 | 12.5 % | 22.5 s | 20.1 % |', text)
        self.assertIn('| alternating | unavailable: it broke | – | – | – | 23.0 s | 24.5 % |', text)

    def test_a_process_is_timed_from_start_to_exit(self):
        result = self.measure([Process('a', OURS, ['sleep', '0.1'])], reps=1)
        self.assertGreaterEqual(result['entrants'][0]['seconds']['min'], 0.1)

    def test_a_process_says_how_many_records_it_did(self):
        echo = Process('a', OURS, ['echo', '{{"records": 7, "bytes": 70}}'])
        self.assertEqual(self.measure([echo], reps=1)['entrants'][0]['records'], 7)

    def test_the_output_of_the_last_repetition_is_removed_before_the_next(self):
        once = Process('a', OURS, ['mkdir', '{work}/out/made'], 'made')
        self.assertNotIn('unavailable', self.measure([once])['entrants'][0])

    def test_a_process_that_fails_says_why(self):
        fails = Process('a', OURS, ['sh', '-c', 'echo no room >&2; exit 3'])
        self.assertEqual(self.measure([fails])['entrants'][0]['unavailable'], 'exit 3: no room')

    @unittest.skipUnless(pathlib.Path('/usr/bin/time').exists(), 'needs GNU time')
    def test_the_peak_is_that_of_the_process_and_not_of_python(self):
        small, large = Process('a', OURS, ['true']), Process('b', OURS, [
            'sh', '-c', 'dd if=/dev/zero of=/dev/null bs=40M count=1'])
        small.peak = large.peak = True
        entries = self.measure([small, large], unit='MB')['entrants']
        self.assertLess(entries[0]['peak_mb'], 8)
        self.assertGreater(entries[1]['peak_mb'], 40)

    def test_a_program_that_is_not_built_is_unavailable(self):
        missing = Program('a', OURS, ['{build}/bench/none'], 'read')
        self.assertIn('is not there', self.measure([missing])['entrants'][0]['unavailable'])

    def test_a_program_times_itself_and_names_its_jobs(self):
        script = 'echo "{{\\"job\\": \\"bare\\", \\"seconds\\": 1}}";' \
                 'echo "{{\\"job\\": \\"read\\", \\"seconds_median\\": 2}}"'
        result = self.measure([Program('a', OURS, ['sh', '-c', script], 'read'),
                               Program('b', REFERENCE, ['sh', '-c', script], 'bare')])
        self.assertEqual(result['ratios']['b']['median'], 0.5)

    def test_who_is_served_stands_still_between_turns(self):
        (self.work / 'server.py').write_text(SERVER)
        served = ServedProgram('a', OURS, [sys.executable, '{work}/server.py', '{work}/ticks'])
        served.start(self.setting, 1)
        self.addCleanup(served.stop)
        ticks = self.work / 'ticks'
        served.run()
        time.sleep(0.3)  # it is told to stand still, and does so in a moment
        before = ticks.stat().st_size
        time.sleep(0.3)
        self.assertEqual(ticks.stat().st_size, before)
        served.run()
        self.assertGreater(ticks.stat().st_size, before)

    def test_a_bench_that_is_killed_leaves_nothing_behind(self):
        """Not its stopped processes, nor what they started."""
        (self.work / 'server.py').write_text(SERVER)
        bench = subprocess.Popen([sys.executable, '-c', textwrap.dedent(f"""
            import pathlib, sys, time
            sys.path.insert(0, {str(ROOT / 'bench')!r})
            from harness.entrants import OURS, ServedProgram, Setting
            work = pathlib.Path({str(self.work)!r})
            served = ServedProgram('a', OURS, [sys.executable, '{{work}}/server.py', '{{work}}/ticks'])
            served.start(Setting(work, work, work, work / 'venvs'), 1)
            print(served.process.pid, flush=True)
            time.sleep(600)
            """)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(bench.stdout.close)
        self.addCleanup(bench.wait)
        self.addCleanup(bench.kill)
        group = int(bench.stdout.readline())
        self.assertGreaterEqual(len(alive_in(group)), 2)  # the server and its shell, which may be sleeping by a third
        bench.kill()
        bench.wait()
        deadline = time.monotonic() + 60
        while left := alive_in(group):
            self.assertLess(time.monotonic(), deadline, left)
            time.sleep(0.05)

    def test_a_report_is_run_once_for_all_of_its_sides(self):
        count = 'echo x >> {work}/runs; '
        line = '"{{\\"entrant\\": \\"$n\\", \\"records_per_s\\": {reps}}}"'
        lines = f'for n in a b; do echo {line}; done'
        report = Report(['sh', '-c', count + lines])
        result = self.measure([Reported('a', OURS, report, {'entrant': 'a'}),
                               Reported('b', REFERENCE, report, {'entrant': 'b'}),
                               Reported('c', PEER, report, {'entrant': 'c'})])
        self.assertEqual((self.work / 'runs').read_text(encoding='ascii'), 'x\n')
        self.assertAlmostEqual(result['entrants'][0]['figure']['median'], self.setting.reps)
        self.assertEqual(result['ratios']['b']['median'], 1)
        self.assertIn('0 lines', result['entrants'][2]['unavailable'])

    def test_a_peer_without_its_environment_says_how_to_get_it(self):
        peer = ServedPeer('lance', 'py', 'lance', 'read-cifar')
        self.assertEqual(self.measure([peer])['entrants'][0]['unavailable'],
                         'no environment: bash bench/peers/setup.sh py')


class Results(unittest.TestCase):
    def test_cases_lie_compressed_beside_the_summary(self):
        results = {'seed': 1, 'summary': {'cases': 2}, 'cases': [{'kind': 'ä'}, {'kind': 'b'}]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'some.json'
            kept.write(results, path)
            self.assertEqual(json.loads(path.read_text('utf-8')),
                             {'seed': 1, 'summary': {'cases': 2}, 'cases_file': 'some-cases.json.xz'})
            self.assertEqual({file.name for file in path.parent.iterdir()},
                             {'some.json', 'some-cases.json.xz'})
            self.assertEqual(kept.read(path), results)


if __name__ == '__main__':
    unittest.main()
