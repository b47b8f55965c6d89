#!/usr/bin/env python3
"""Measures the memory and the time that `recprobe read` takes for large traces of PyTorch's profiler.

    python3 bench/probe/large_trace.py --gb 1 3 10 --out bench/results/probe-large-trace.json

Each trace has the layout that export_chrome_trace() writes: first what the host did, in all steps, then what the device
did. A step has 1,000 operations, launches and kernels. The file is removed when it was read; --folder needs room for it
and for the events that `recprobe read` sorts there.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench'))
from harness import machine  # noqa: E402

OPERATIONS = 1000  # a step
STEP = 10_000  # us
WAIT = 1500  # us, of a step, for the next batch
HEAD = '''{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],
"baseTimeNanoseconds": 1780000000000000000, "displayTimeUnit": "ms", "traceEvents": [
{"name": "process_name", "ph": "M", "ts": 0.000, "pid": 4711, "tid": 0, "args": {"name": "python"}}'''
EVENT = ''',
  {
    "ph": "X", "cat": "%s", "name": "%s", "pid": %d, "tid": %d,
    "ts": %s, "dur": %s,
    "args": {
      %s
    }
  }'''
KERNEL = 'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >' \
         '(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>) [%d]'
OF_KERNEL = '"External id": 3, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 11, ' \
            '"registers per thread": 32, "shared memory": 0, "blocks per SM": 3.878788, "warps per SM": 15.515152, ' \
            '"grid": [512, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 24'


def event(category: str, name: str, at: int, length: int, process: int, thread: int, arguments: str) -> str:
    """Returns a template of an event, which takes the begin of its step [us]."""
    text = EVENT % (category, name, process, thread, 'AT', f'{length}.125', arguments)
    return text.replace('%', '%%').replace('AT', f'%({at})d.250')


class Begins(dict):
    """Gives a template of a step the times of its events."""

    begin = 0

    def __missing__(self, offset: str) -> int:
        return self.begin + int(offset)


def host_template() -> str:
    parts = [event('user_annotation', 'ProfilerStep#STEP', 0, STEP - 1, 4711, 4711, '"External id": 1'),
             event('user_annotation', 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__', 1, WAIT, 4711, 4711,
                   '"External id": 2')]
    room = STEP - WAIT - 100
    for number in range(OPERATIONS):
        at = WAIT + 10 + number * room // OPERATIONS
        parts.append(event('cpu_op', 'aten::add_', at, 5, 4711, 4711,
                           '"External id": 3, "Sequence number": 3, "Fwd thread id": 0, "Ev Idx": 2'))
        parts.append(event('cuda_runtime', 'cudaLaunchKernel', at + 1, 2, 4711, 4711,
                           '"External id": 3, "cbid": 211, "correlation": 11'))
    return ''.join(parts)


def device_template() -> str:
    room = STEP - WAIT - 100
    return ''.join(event('kernel', KERNEL % (number % 40), WAIT + 30 + number * room // OPERATIONS, 4, 0, 7, OF_KERNEL)
                   for number in range(OPERATIONS))


def write_trace(path: pathlib.Path, size: float) -> dict:
    """Writes a trace of about `size` bytes."""
    host, device = host_template(), device_template()
    begins = Begins()
    steps = max(3, int(size / (len(host % begins) + len(device % begins))))
    with open(path, 'w', encoding='ascii') as file:
        file.write(HEAD)
        for template in (host, device):
            for step in range(steps):
                begins.begin = step * STEP
                file.write((template % begins).replace('#STEP', f'#{step}'))
        file.write('\n]}\n')
    return {'gb': path.stat().st_size / 1e9, 'steps': steps, 'events': steps * (2 + 3 * OPERATIONS)}


def read_trace(recprobe: pathlib.Path, path: pathlib.Path, folder: str) -> dict:
    begin = time.monotonic()
    process = subprocess.Popen([recprobe, 'read', '--json', path], stdout=subprocess.PIPE,
                               env={**os.environ, 'TMPDIR': folder})
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status != 0:
        raise SystemExit(f'recprobe read ended with {os.waitstatus_to_exitcode(status)}')
    said = json.loads(out)
    return {'seconds': seconds, 'cpu_seconds': usage.ru_utime + usage.ru_stime, 'resident_mb': usage.ru_maxrss * 1024 / 1e6,
            'verdict': said['verdict'], 'share': said['input_share']['value']}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--gb', type=float, nargs='+', default=[0.1, 1, 3])
    parser.add_argument('--recprobe', type=pathlib.Path, default=ROOT / 'build/release/tools/recprobe/recprobe')
    parser.add_argument('--folder', default='/var/tmp', help='for the trace and what is sorted')
    parser.add_argument('--out', type=pathlib.Path)
    given = parser.parse_args()
    rows = []
    for size in given.gb:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            path = pathlib.Path(folder) / 'trace.json'
            row = write_trace(path, size * 1e9)
            row.update(read_trace(given.recprobe, path, folder))
        print(json.dumps(row), flush=True)
        rows.append(row)
    if given.out:
        said = {'date': machine.today(), 'machine': machine.describe(given.out.parent), 'wait_of_a_step': WAIT / STEP, 'rows': rows}
        given.out.write_text(json.dumps(said, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
