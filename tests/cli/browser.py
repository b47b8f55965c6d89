"""A headless Chromium, spoken to by its DevTools protocol over pipes (file descriptors 3 and 4)."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser') or \
    shutil.which('google-chrome')


class Browser:
    """One page. `said`: what its console said, exceptions included; `requests`: addresses asked."""

    def __init__(self, width=1000, height=1400):
        self.folder = tempfile.mkdtemp(prefix='recpack-chromium-')
        to_read, self.writer = os.pipe()
        self.reader, to_write = os.pipe()
        self.process = subprocess.Popen(
            ['sh', '-c', f'exec 3<&{to_read} 4>&{to_write}; exec "$@"', 'sh', CHROMIUM,
             '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
             '--no-first-run', '--disable-extensions', '--disable-background-networking',
             '--hide-scrollbars', '--force-color-profile=srgb', f'--user-data-dir={self.folder}',
             f'--window-size={width},{height}', '--remote-debugging-pipe', 'about:blank'],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session = b'', 0, None
        self.said, self.requests, self.loaded = [], [], 0
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Log', 'Network':
            self.call(f'{domain}.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def close(self):
        os.close(self.writer)
        os.close(self.reader)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self):
        while b'\0' not in self.buffer:
            more = os.read(self.reader, 1 << 20)
            if not more:
                raise RuntimeError('Chromium has ended')
            self.buffer += more
        line, self.buffer = self.buffer.split(b'\0', 1)
        message = json.loads(line)
        parameters = message.get('params', {})
        method = message.get('method')
        if method in ('Runtime.exceptionThrown', 'Runtime.consoleAPICalled', 'Log.entryAdded'):
            self.said.append(json.dumps(parameters))
        elif method == 'Network.requestWillBeSent':
            self.requests.append(parameters['request']['url'])
        elif method == 'Page.loadEventFired':
            self.loaded += 1
        return message

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.writer, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._message()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']

    def open(self, path, scheme='light', media=''):
        self.call('Emulation.setEmulatedMedia', media=media,
                  features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.go(path)
        # Charts are drawn when their size is known.
        self.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))')

    def go(self, path):
        self.visit(f'file://{path}')

    def visit(self, address):
        before = self.loaded
        self.call('Page.navigate', url=address)
        while self.loaded == before:
            self._message()

    def evaluate(self, script):
        result = self.call('Runtime.evaluate', expression=script, awaitPromise=True,
                           returnByValue=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(json.dumps(result['exceptionDetails']))
        return result['result'].get('value')

    def press(self, key):
        codes = {'Tab': 9, 'Enter': 13, 'ArrowRight': 39, 'ArrowLeft': 37, 'End': 35, 'Home': 36}
        for kind in 'rawKeyDown', 'keyUp':
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes[key])

    def picture(self, whole=True):
        """PNG bytes."""
        return base64.b64decode(self.call('Page.captureScreenshot', format='png',
                                          captureBeyondViewport=whole)['data'])


def main(page, png, scheme='light', width='1000', height='0'):
    """A picture of a page, of all its height where none is given."""
    browser = Browser(int(width), int(height) or 1400)
    browser.open(os.path.abspath(page), scheme)
    with open(png, 'wb') as file:
        file.write(browser.picture(whole=height == '0'))
    browser.close()


if __name__ == '__main__':
    main(*sys.argv[1:])
