"""Compares the kernels recorded by `recprobe run --trace` with those of PyTorch's profiler.

    python3 bench/probe/trace_beside_torch.py RECPROBE [--steps 50] [--batch 256]

CUDA allows one profiler per process, so the same steps run twice. Prints a line of JSON with the
number and time of kernels by both, or {"unavailable": why}. Exits with 1 if the numbers differ, or
the times by more than 2 %.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
from peer_torch_resnet_cuda import make_step, why_not  # noqa: E402

WITHIN = 0.02


def train(steps: int, batch: int) -> None:
    """Runs the steps."""
    import torch
    step = make_step('plain', 'cuda', batch, 16)
    for _ in range(steps):
        loss = step()
    torch.cuda.synchronize()
    if not loss.isfinite().item():
        raise SystemExit('the loss is not a number')


def train_profiled(steps: int, batch: int, trace: str) -> None:
    """Runs the steps under PyTorch's profiler."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        train(steps, batch)
    profiler.export_chrome_trace(trace)


def kernels(recprobe: str, trace: pathlib.Path) -> tuple:
    """Returns the number and seconds of a trace's kernels."""
    done = subprocess.run([recprobe, 'read', str(trace), '--json'], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    rows = [row for table in json.loads(done.stdout)['tables'] if table['title'] == 'Device activities'
            for row in table['rows'] if row['bytes'] == 0]
    return sum(row['calls'] for row in rows), sum(row['time_ns'] for row in rows) * 1e-9


def compare(options) -> int:
    """Runs both and prints the comparison."""
    this = [sys.executable, __file__, options.recprobe, '--steps', str(options.steps), '--batch',
            str(options.batch)]
    with tempfile.TemporaryDirectory() as folder:
        events, trace = pathlib.Path(folder) / 'events', pathlib.Path(folder) / 'trace.json'
        subprocess.run([options.recprobe, 'run', '--trace', '--no-hook', '--keep', str(events),
                        '--', *this, '--train'], check=True, stdout=subprocess.DEVNULL)
        for notice in events.glob('*-cupti.notice'):
            if text := notice.read_text().strip():
                print(json.dumps({'unavailable': text}))
                return 0
        subprocess.run([*this, '--profile', str(trace)], check=True, stdout=subprocess.DEVNULL)
        ours, theirs = kernels(options.recprobe, events), kernels(options.recprobe, trace)
    within = ours[0] == theirs[0] and abs(ours[1] / theirs[1] - 1) <= WITHIN
    print(json.dumps({'recprobe_kernels': ours[0], 'recprobe_seconds': ours[1],
                      'torch_kernels': theirs[0], 'torch_seconds': theirs[1],
                      'time_ratio': ours[1] / theirs[1], 'within_2_percent': within}))
    return 0 if within else 1


def main() -> int:
    """Parses the command line and runs the comparison, or one of its child processes."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('recprobe')
    parser.add_argument('--steps', type=int, default=50)
    parser.add_argument('--batch', type=int, default=256)
    parser.add_argument('--train', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--profile', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if reason := why_not('cuda'):
        print(json.dumps({'unavailable': reason}))
        return 0
    if options.profile:
        train_profiled(options.steps, options.batch, options.profile)
    elif options.train:
        train(options.steps, options.batch)
    else:
        return compare(options)
    return 0


if __name__ == '__main__':
    sys.exit(main())
