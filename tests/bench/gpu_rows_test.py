"""The rows of bench/gpu.sh: what a step printed, tests, and results that grow run by run."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU = ROOT / 'bench' / 'gpu'


class GpuRows(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_script(self, name, *words):
        return subprocess.run([sys.executable, '-B', GPU / name, *map(str, words)],
                              capture_output=True, text=True, check=False)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding='utf-8')
        return path

    def rows(self, status, out='', err=''):
        done = self.run_script('row.py', 'a step', status, 9, self.file('out', out),
                               self.file('err', err))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_each_line_of_json_is_a_row(self):
        self.assertEqual(self.rows(0, 'words\n{"a": 1}\n{"a": 2}\n'),
                         [{'step': 'a step', 'a': 1}, {'step': 'a step', 'a': 2}])

    def test_a_step_that_fails_says_how(self):
        self.assertEqual(self.rows(3, '{"a": 1}\n', 'first\nsecond\n'),
                         [{'step': 'a step', 'a': 1},
                          {'step': 'a step', 'failed': 'ended with 3 | first | second | {"a": 1}'}])
        for status in 124, 137:
            self.assertEqual(self.rows(status),
                             [{'step': 'a step', 'failed': 'took more than 9 s'}])

    def test_what_the_machine_lacks_is_unavailable(self):
        for line in 'libcudnn.so.9 cannot be loaded: it is not there', \
                    "ModuleNotFoundError: No module named 'torch'":
            self.assertEqual(self.rows(2, err=f'more\n{line}\n'),
                             [{'step': 'a step', 'unavailable': line}])

    def test_tests_are_counted(self):
        def case(name, **more):
            return {'classname': 'Suite', 'name': name, 'result': 'COMPLETED', **more}
        suites = [{'testsuite': [case('good'), case('bad', failures=[{'failure': 'why'}])]},
                  {'testsuite': [case('none', result='SKIPPED')]}]
        results = self.file('tests', json.dumps({'testsuites': suites}))
        done = self.run_script('tests_row.py', results)
        self.assertEqual(json.loads(done.stdout),
                         {'passed': 1, 'failed_tests': ['Suite.bad'], 'skipped': 1})

    def report(self, *rows):
        self.file('commit', 'abc\n')
        made = self.file('rows', ''.join(json.dumps(row) + '\n' for row in rows))
        done = self.run_script('report.py', self.folder, made, self.folder / 'all.json')
        results = json.loads((self.folder / 'all.json').read_text(encoding='utf-8'))
        return results, done

    def test_a_later_run_adds_its_rows_and_replaces_those_made_anew(self):
        results, done = self.report({'step': 'a', 'x': 1}, {'step': 'b', 'x': 2})
        self.assertEqual((done.returncode, results['commit']), (0, 'abc'))
        results, _ = self.report({'step': 'b', 'x': 3}, {'step': 'b', 'x': 4},
                                 {'step': 'c', 'x': 5})
        self.assertEqual([(row['step'], row['x']) for row in results['rows']],
                         [('a', 1), ('b', 3), ('b', 4), ('c', 5)])

    def test_a_row_that_failed_is_named(self):
        for row in {'step': 'a', 'failed': 'why'}, {'step': 'a', 'failed_tests': ['Suite.bad']}:
            _, done = self.report(row)
            self.assertEqual(done.returncode, 1)
            self.assertIn('failed: a\n', done.stderr)
        for row in {'step': 'a', 'unavailable': 'why'}, {'step': 'a', 'failed_tests': []}:
            self.assertEqual(self.report(row)[1].returncode, 0)


if __name__ == '__main__':
    unittest.main()
