"""PyTorch's training step of the ResNet-18 for small pictures, on the CPU: one batch that stays.

Jobs: f32, f32-channels-last, bf16-autocast-channels-last, bf16-channels-last (weights in bf16 too);
each also with -compiled behind it: by torch.compile.
"""
import math
import pathlib
import sys

import torch
from torch.nn import functional as F

from common import Job, main, version_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))
from resnet_torch import ResNet18  # noqa: E402

FORMS = ('f32', 'f32-channels-last', 'bf16-autocast-channels-last', 'bf16-channels-last')
BATCH, WIDTH, STEPS = 128, 16, 15


def job(form: str):
    def make(context) -> Job:
        torch.set_num_threads(context.threads)
        torch.manual_seed(0)
        layout = torch.channels_last if 'channels-last' in form else torch.contiguous_format
        kind = torch.bfloat16 if form.startswith('bf16-channels-last') else torch.float32
        model = ResNet18(WIDTH, 10).train().to(memory_format=layout, dtype=kind)
        network = torch.compile(model) if form.endswith('compiled') else model
        images = torch.randn(BATCH, 3, 32, 32).to(memory_format=layout, dtype=kind)
        labels = torch.randint(0, 10, (BATCH,))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)

        def run():
            for _ in range(STEPS):
                with torch.autocast('cpu', torch.bfloat16, enabled='autocast' in form):
                    loss = F.cross_entropy(network(images).float(), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if not math.isfinite(loss.item()):
                raise ValueError('the training diverged: lower the rate')
            return STEPS * BATCH, 0

        return Job(run, f'{form}, batch {BATCH}, width {WIDTH}, {context.threads} threads')
    return make


if __name__ == '__main__':
    main('torch', version_of('torch'), {
        name: job(name) for form in FORMS for name in (form, f'{form}-compiled')})
