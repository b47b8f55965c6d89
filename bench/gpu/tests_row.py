"""A row that counts the tests of a program: tests_row.py RESULTS, which is GoogleTest's JSON."""
import json
import sys

suites = json.load(open(sys.argv[1]))['testsuites']
cases = [case for suite in suites for case in suite['testsuite']]
skipped = sum(case.get('result') == 'SKIPPED' for case in cases)
failed = [f"{case['classname']}.{case['name']}" for case in cases if case.get('failures')]
print(json.dumps({'passed': len(cases) - skipped - len(failed), 'failed_tests': failed,
                  'skipped': skipped}))
