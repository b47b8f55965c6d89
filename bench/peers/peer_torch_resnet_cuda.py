"""PyTorch's training step of the ResNet-18 for small pictures on a GPU: one batch that stays.

    python3 bench/peers/peer_torch_resnet_cuda.py FORM [--batch 512] [--width 16] [--reps 5]

Forms, all of bf16 by autocast with f32 weights, channels last, and SGD in one kernel:
  plain            operation by operation
  reduce-overhead  torch.compile with CUDA graphs of the forward and of the backward pass
  max-autotune     the same, with kernels that are chosen by timing them
  whole-step       compiled, and one CUDA graph of forward, backward and update
  whole-step-autotuned  the same, with kernels that are chosen by timing them

Prints a row as common.py does, or {"unavailable": why} where there is no PyTorch or no GPU.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

FORMS = ('plain', 'reduce-overhead', 'max-autotune', 'whole-step', 'whole-step-autotuned')
WARMUP, STEPS = 12, 40  # behind compiling


def why_not(device: str) -> str:
    """Empty where this machine can run it."""
    try:
        import torch
    except ImportError as error:
        return str(error)
    if device == 'cuda' and not torch.cuda.is_available():
        return f'PyTorch {torch.__version__} finds no GPU'
    return ''


def make_step(form: str, device: str, batch: int, width: int):
    """A function that trains one step and returns its loss, on the device."""
    import torch
    from torch.nn import functional as F
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))
    from resnet_torch import ResNet18

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision('high')
    model = ResNet18(width, 10).train().to(device=device, memory_format=torch.channels_last)
    images = torch.randn(batch, 3, 32, 32, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (batch,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4,
                                fused=True)
    modes = {'reduce-overhead': 'reduce-overhead', 'max-autotune': 'max-autotune',
             'whole-step': 'default', 'whole-step-autotuned': 'max-autotune-no-cudagraphs'}
    whole = form.startswith('whole-step')
    network = torch.compile(model, mode=modes[form]) if form in modes else model

    def step():
        # A graph may not take casts from a cache that was filled before it.
        with torch.autocast(device, torch.bfloat16, cache_enabled=not whole):
            loss = F.cross_entropy(network(images).float(), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    if not whole or device != 'cuda':
        return step
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss
    return replay


def measure(options) -> dict:
    """The row of `reps` times STEPS steps."""
    import torch
    step = make_step(options.form, options.device, options.batch, options.width)
    for _ in range(options.warmup):
        step().item()

    def run() -> float:
        begin = time.perf_counter()
        for _ in range(options.steps):
            loss = step()
        if not loss.isfinite().item():  # waits
            raise SystemExit('the loss is not a number')
        return time.perf_counter() - begin

    seconds = [run() for _ in range(options.reps)]
    median = statistics.median(seconds)
    samples = options.steps * options.batch
    return dict(peer='torch', version=f'torch {torch.__version__}', job=options.form,
                config=f'bf16 autocast, channels last, batch {options.batch}, '
                       f'width {options.width}',
                reps=options.reps, seconds_median=median, seconds_min=min(seconds),
                seconds_max=max(seconds), step_seconds=median / options.steps,
                samples_per_second=samples / median)


def main() -> None:
    """Runs the form that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('form', choices=FORMS)
    parser.add_argument('--batch', type=int, default=512)
    parser.add_argument('--width', type=int, default=16)
    parser.add_argument('--reps', type=int, default=5)
    parser.add_argument('--steps', type=int, default=STEPS, help='of a repetition')
    parser.add_argument('--warmup', type=int, default=WARMUP, help='steps')
    parser.add_argument('--device', default='cuda', choices=('cuda', 'cpu'),
                        help='cpu: to try the script out')
    options = parser.parse_args()
    reason = why_not(options.device)
    print(json.dumps({'unavailable': reason} if reason else measure(options)))


if __name__ == '__main__':
    main()
