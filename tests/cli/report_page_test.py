"""Tests of report.html in headless Chromium: themes, keyboard, names, contrast, no network."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from browser import Browser, CHROMIUM
from probe_program import EVENTS, MOVING, ProbeCase, RECPROBE, RECTRAIN

# Markup in the job's name, which the page must not execute.
EVIL = '</script><script>window.evil = 1</script><img src=x onerror="window.evil = 1">&lt;'

FOCUSABLE = '''[...document.querySelectorAll('a[href], button, summary, [tabindex="0"]')]
    .filter((element) => element.checkVisibility())'''

# JavaScript functions that check the page.
CHECKS = pathlib.Path(__file__).with_name('report_page_checks.js').read_text()


@unittest.skipUnless(CHROMIUM, 'no Chromium: tools/setup.sh --for ci installs it')
class InBrowser(ProbeCase):
    """Shares one browser among all tests."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)


class Page(InBrowser):
    """Tests of one report, of a real training if there is a trainer."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix='recpack-page-'))
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.page = None

    def setUp(self):
        super().setUp()
        if Page.page is None:
            command = EVENTS
            if RECTRAIN:
                command = self.train('--devices', 'sim:10ms', '--epochs', '100',
                                     '--max-steps', '60')
            self.probe('run', '--report', self.place / 'report', '--job', EVIL, '--', *command)
            Page.page = self.place / 'report' / 'report.html'
        self.browser.said.clear()
        self.browser.requests.clear()
        self.browser.open(self.page)

    def colours(self, png):
        """Number of colours in a screenshot, and its mean lightness (0 to 255)."""
        return self.browser.evaluate('''(async () => {
          const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
          const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
          const canvas = new OffscreenCanvas(image.width, image.height);
          const to = canvas.getContext('2d');
          to.drawImage(image, 0, 0);
          const data = new Uint32Array(
              to.getImageData(0, 0, image.width, image.height).data.buffer);
          let sum = 0;
          for (const pixel of data) sum += (pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255);
          return {colours: new Set(data).size, light: sum / data.length / 3, height: image.height};
        })()''' % base64.b64encode(png).decode())

    def test_the_console_says_nothing_and_no_network_is_asked(self):
        for scheme in 'light', 'dark':
            self.browser.open(self.page, scheme)
        self.assertEqual(self.browser.said, [])
        asked = {address.split(',')[0] for address in self.browser.requests}
        self.assertEqual(asked - {'data:'}, {f'file://{self.page}'})

    def test_pictures_in_light_and_dark_show_something(self):
        light = self.colours(self.browser.picture())
        self.browser.open(self.page, 'dark')
        dark = self.colours(self.browser.picture())
        self.assertGreater(light['height'], 800)
        for picture in light, dark:
            self.assertGreater(picture['colours'], 100)
        self.assertGreater(light['light'], 200)
        self.assertLess(dark['light'], 70)

    def test_the_button_turns_light_into_dark(self):
        theme = 'document.documentElement.dataset.theme'
        self.assertEqual(self.browser.evaluate(theme), 'light')
        self.browser.evaluate('document.getElementById("theme").focus()')
        self.browser.press('Enter')
        self.browser.evaluate('document.getElementById("theme").click()')
        state = f'[{theme}, document.getElementById("theme").getAttribute("aria-pressed")]'
        self.assertEqual(self.browser.evaluate(state), ['dark', 'true'])

    def test_every_text_and_colour_is_strong_enough(self):
        for scheme in 'light', 'dark':
            self.browser.open(self.page, scheme)
            self.assertEqual(self.browser.evaluate(CHECKS + 'tooPale()'), [], scheme)

    def test_all_has_names(self):
        self.browser.evaluate('document.querySelectorAll("details").forEach((d) => d.open = true)')
        self.browser.evaluate('new Promise((done) => setTimeout(done, 100))')
        self.assertEqual(self.browser.evaluate(CHECKS + 'unnamed()'), [])

    def test_the_tab_key_goes_through_all_in_order_and_is_seen(self):
        count = self.browser.evaluate(f'''(() => {{ const all = {FOCUSABLE};
            all.forEach((element, i) => element.dataset.order = i); return all.length; }})()''')
        self.assertGreater(count, 12)
        for i in range(count):
            self.browser.press('Tab')
            at, outline, kind = self.browser.evaluate('''(() => {
                const now = document.activeElement;
                return [Number(now.dataset.order), getComputedStyle(now).outlineStyle,
                        now.className];
            })()''')
            self.assertEqual(at, i)
            self.assertNotEqual(outline, 'none')
            if i == 0:
                self.assertEqual(kind, 'skip')

    def test_arrow_keys_read_a_chart(self):
        self.browser.evaluate('document.querySelector("[role=slider]").focus()')
        read = '''(() => { const all = document.querySelector("[role=slider]");
            return [all.getAttribute("aria-valuetext"),
                    all.closest("figure").querySelector(".legend").textContent]; })()'''
        whole = self.browser.evaluate(read)
        self.browser.press('ArrowRight')
        first = self.browser.evaluate(read)
        self.browser.press('End')
        last = self.browser.evaluate(read)
        self.assertEqual(len({text for text, _ in (whole, first, last)}), 3)
        self.assertNotEqual(whole[1], last[1])

    def test_each_chart_is_a_table_as_well(self):
        report = json.loads((self.page.parent / 'report.json').read_text())
        rows = self.browser.evaluate('''(async () => {
          const figures = [...document.querySelectorAll('figure:has([role=slider])')];
          figures.forEach((figure) => figure.querySelector('details').open = true);
          await new Promise((done) => setTimeout(done, 100));
          return figures.map((figure) => figure.querySelectorAll('tbody tr').length);
        })()''')
        self.assertGreater(len(rows), 3)
        lengths = {len(report['timeline']['begin_s'])} | {len(s['count']) for s in report['steps']}
        self.assertLessEqual(set(rows), lengths)

    def test_times_as_people_read_them(self):
        for time, text in ((0, '0 s'), (0.0025, '2.50 ms'), (1.5, '1.50 s'), (119.9, '120 s'),
                           (179.7, '3 min 0 s'), (7199, '119 min 59 s'), (9000, '2.5 h')):
            self.assertEqual(self.browser.evaluate(f'seconds({time})'), text)

    def test_a_name_is_text_and_nothing_else(self):
        self.assertEqual(self.browser.evaluate('document.getElementById("job-name").textContent'),
                         EVIL)
        self.assertIsNone(self.browser.evaluate('window.evil ?? null'))
        self.assertEqual(self.browser.evaluate('document.images.length'), 0)

    def test_a_narrow_window_needs_no_scrolling_to_the_side(self):
        self.browser.call('Emulation.setDeviceMetricsOverride', width=360, height=700,
                          deviceScaleFactor=1, mobile=True)
        self.addCleanup(self.browser.call, 'Emulation.setDeviceMetricsOverride', width=1000,
                        height=1400, deviceScaleFactor=1, mobile=False)
        self.browser.open(self.page)
        self.assertLessEqual(self.browser.evaluate('document.scrollingElement.scrollWidth'), 360)

    def test_on_paper_it_is_light_and_without_buttons(self):
        self.browser.open(self.page, 'dark', media='print')
        self.assertEqual(self.browser.evaluate('getComputedStyle(document.body).backgroundColor'),
                         'rgb(255, 255, 255)')
        self.assertFalse(self.browser.evaluate(
            'document.getElementById("theme").checkVisibility()'))

    def test_without_scripts_the_verdict_is_there(self):
        self.browser.call('Emulation.setScriptExecutionDisabled', value=True)
        self.addCleanup(self.browser.call, 'Emulation.setScriptExecutionDisabled', value=False)
        self.browser.go(self.page)
        document = self.browser.call('DOM.getDocument', depth=-1)['root']
        self.assertTrue('verdict: ' in json.dumps(document))


class Words(InBrowser):
    """Pages of other programs and traces."""

    def words(self, *command, **options):
        self.probe('run', '--report', self.folder / 'report', '--', *command, **options)
        self.browser.open(self.folder / 'report' / 'report.html')
        self.assertEqual(self.browser.said, [])
        return self.browser.evaluate('document.getElementById("report").innerText')

    def test_copies_on_devices_are_a_part_of_a_step(self):
        words = self.words(*MOVING)
        self.assertIn('What holds it back: copies on devices', words)
        self.assertRegex(words, r'copies on devices\s*40\.0 %')

    def test_a_program_without_steps(self):
        words = self.words('sleep', '0.5')
        self.assertIn('Whether it waits for input is not known. No steps were seen.', words)

    @unittest.skipUnless(RECTRAIN, 'this build has no trainer')
    def test_what_would_help_the_loader(self):
        env = {**os.environ, 'XDG_CACHE_HOME': str(self.folder / 'cache')}
        command = self.train('--devices', 'sim:2ms', '--epochs', '1000', '--max-steps', '1000')
        subprocess.run([RECPROBE, 'doctor', '--seconds', '1', '--data', self.folder / 'out'],
                       env=env, stdout=subprocess.DEVNULL, check=False)
        words = self.words(*command, env=env)
        self.assertIn('What if: predicted from what these stages cost', words)
        self.assertIn('as it is', words)
        self.assertIn('Threads of the program that did most', words)

    @unittest.skipUnless(os.environ.get('FAKE_NVML_FOLDER'), 'this build has no stand-in of NVML')
    def test_what_older_rules_say_is_a_hint(self):
        script = self.folder / 'nvml'
        script.write_text('devices 1\n0.utilization 97 1\n')
        env = {**os.environ, 'LD_LIBRARY_PATH': os.environ['FAKE_NVML_FOLDER'],
               'FAKE_NVML': str(script)}
        words = self.words('sh', '-c', f'echo 0.processes $$:1 >> {script}; sleep 5; "$@"', 'sh',
                           *EVENTS, env=env)
        self.assertIn('Hints from rules of thumb (not used for the verdict)', words)
        self.assertIn('GPU 0 is used 97.0 %', words)


if __name__ == '__main__':
    unittest.main()
