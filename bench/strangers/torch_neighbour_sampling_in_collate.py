"""A GraphSAGE whose collate_fn draws the neighbours of three hops, node by node, from Python lists.

environment: vision; cause: batch function
"""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader


class Graph:
    def __init__(self, nodes, degree, features, classes, seed=0):
        rng = np.random.default_rng(seed)
        self.neighbours = rng.integers(0, nodes, (nodes, degree)).tolist()
        self.weights = rng.random((nodes, degree)).round(3).tolist()
        self.features = torch.from_numpy(rng.random((nodes, features), np.float32))
        self.labels = torch.from_numpy(rng.integers(0, classes, nodes))


class NeighbourSampler:
    """Makes the bipartite blocks of a batch of seeds, as DGL's sampler does."""

    def __init__(self, graph, fanouts):
        self.graph, self.fanouts = graph, fanouts

    def choose(self, node, count):
        chosen = set()
        neighbours, weights = self.graph.neighbours[node], self.graph.weights[node]
        while len(chosen) < count:
            chosen.update(random.choices(neighbours, weights, k=count - len(chosen)))  # planted
        return chosen

    def block(self, nodes, fanout):
        place = {node: i for i, node in enumerate(nodes)}
        source, target = [], []
        for i, node in enumerate(nodes):  # planted
            for neighbour in self.choose(node, fanout):  # planted
                if neighbour not in place:
                    place[neighbour] = len(place)
                source.append(place[neighbour])
                target.append(i)
        return list(place), (torch.tensor(source), torch.tensor(target), len(nodes))

    def __call__(self, seeds):
        nodes, blocks = list(dict.fromkeys(seeds)), []
        labels = self.graph.labels[nodes]
        for fanout in self.fanouts:
            nodes, block = self.block(nodes, fanout)  # planted
            blocks.insert(0, block)
        return self.graph.features[nodes], blocks, labels


class SAGEConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.others = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, block):
        source, target, count = block
        total = x.new_zeros(count, x.shape[1]).index_add(0, target, x[source])
        number = x.new_zeros(count).index_add(0, target, x.new_ones(len(target)))
        return self.own(x[:count]) + self.others(total / number.clamp(min=1).unsqueeze(1))


class GraphSAGE(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.convs = nn.ModuleList([SAGEConv(features, hidden), SAGEConv(hidden, hidden), SAGEConv(hidden, classes)])

    def forward(self, x, blocks):
        for number, (conv, block) in enumerate(zip(self.convs, blocks)):
            x = conv(x, block)
            if number < len(self.convs) - 1:
                x = torch.relu(x)
        return x


if __name__ == '__main__':
    torch.set_num_threads(1)
    graph = Graph(nodes=20_000, degree=32, features=16, classes=7)
    loader = DataLoader(range(64 * 180), batch_size=64, shuffle=True, num_workers=2,
                        collate_fn=NeighbourSampler(graph, [10, 8, 4]))
    model = GraphSAGE(16, 16, 7)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    model.train()
    for x, blocks, y in loader:
        loss = nn.functional.cross_entropy(model(x, blocks), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
