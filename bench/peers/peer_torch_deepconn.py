"""PyTorch's training step of DeepCoNN on the CPU: one batch that stays.

The network is that of tests/interop, held there to ours, with what ours does to be fast as well: the
maximum before tanh, which rises, and the factorisation machine without a product for each pair.
Jobs: f32, f32-conv1d, bf16-autocast, bf16 (weights in bf16 too); each also with -compiled.
"""
import math
import pathlib
import sys

import torch
from torch.nn import functional as F

from common import Job, main, version_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tests' / 'interop'))
from networks import Deepconn, Machine, Tower  # noqa: E402

FORMS = ('f32', 'f32-conv1d', 'bf16-autocast', 'bf16')
# As bench/train/deepconn_bench.cc has them.
BATCH, STEPS, TOKENS = 128, 15, 256
SIZES = {'vocabulary': 20_000, 'dims': 64, 'filters': 100, 'kernel': 3, 'latent': 64, 'factors': 8}


class FastTower(Tower):
    conv1d = False

    def forward(self, tokens):
        x = self.embedding(tokens).transpose(1, 2)
        if self.conv1d:
            x = F.conv1d(x, self.conv.weight.squeeze(2), self.conv.bias)
        else:
            x = self.conv(x.unsqueeze(2)).squeeze(2)
        return F.relu(self.fc(torch.tanh(x.amax(2))))


class FastMachine(Machine):
    def forward(self, x):
        pairs = (x @ self.factors).square() - x.square() @ self.factors.square()
        return self.bias + x @ self.weight + 0.5 * pairs.sum(1)


def network(form: str) -> Deepconn:
    model = Deepconn(**SIZES)
    for tower in model.user, model.item:
        tower.__class__ = FastTower
        tower.conv1d = 'conv1d' in form
    model.fm.__class__ = FastMachine
    return model.train().to(dtype=torch.bfloat16 if form.startswith('bf16') and
                            'autocast' not in form else torch.float32)


def job(form: str):
    def make(context) -> Job:
        torch.set_num_threads(context.threads)
        torch.manual_seed(0)
        model = network(form)
        users, items = (torch.randint(1, SIZES['vocabulary'], (BATCH, TOKENS)) for _ in range(2))
        ratings = torch.randint(1, 6, (BATCH,)).float()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
        run_model = torch.compile(model) if form.endswith('compiled') else model

        def run():
            for _ in range(STEPS):
                with torch.autocast('cpu', torch.bfloat16, enabled='autocast' in form):
                    loss = F.mse_loss(run_model(users, items).float(), ratings)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if not math.isfinite(loss.item()):
                raise ValueError('the training diverged: lower the rate')
            return STEPS * BATCH, 0

        return Job(run, f'{form}, batch {BATCH}, {TOKENS} tokens, {context.threads} threads')
    return make


if __name__ == '__main__':
    main('torch', version_of('torch'), {
        name: job(name) for form in FORMS for name in (form, f'{form}-compiled')})
