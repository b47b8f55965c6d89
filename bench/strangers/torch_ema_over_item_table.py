"""Two-tower recommender whose exponential moving average walks the whole item table after every step.

environment: vision; cause: host
"""
import argparse
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoTower(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.users = nn.Embedding(n_users, dim, sparse=True)
        self.items = nn.Embedding(n_items, dim, sparse=True)
        self.head = nn.Sequential(nn.Linear(2 * dim, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, user, item):
        both = torch.cat([self.users(user), self.items(item)], dim=1)
        return self.head(both).squeeze(1)


class ModelEma:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        state = model.state_dict()
        for name, value in self.module.state_dict().items():
            value.copy_(self.decay * value + (1.0 - self.decay) * state[name])  # planted


def make_interactions(n, n_users, n_items):
    users = torch.randint(n_users, (n,))
    items = (torch.rand(n) ** 3 * n_items).long()
    clicks = ((users * 7 + items * 3) % 5 == 0).float()
    return TensorDataset(users, items, clicks)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ema-decay", type=float, default=0.999)
    return parser.parse_args()


def main():
    args = parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(17)
    data = make_interactions(512 * 60, args.users, args.items)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = TwoTower(args.users, args.items, args.dim)
    ema = ModelEma(model, args.ema_decay)
    tables = torch.optim.SparseAdam(list(model.users.parameters()) + list(model.items.parameters()), lr=1e-2)
    head = torch.optim.AdamW(model.head.parameters(), lr=1e-3)
    loss_fn = nn.BCEWithLogitsLoss()

    for epoch in range(args.epochs):
        total = 0.0
        for user, item, click in loader:
            loss = loss_fn(model(user, item), click)
            tables.zero_grad(set_to_none=True)
            head.zero_grad(set_to_none=True)
            loss.backward()
            tables.step()
            head.step()
            ema.update(model)
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
