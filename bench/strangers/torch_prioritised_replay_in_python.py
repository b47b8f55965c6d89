"""A DQN whose prioritised replay buffer walks a Python list of priorities for each transition that it draws, in the training loop.

environment: vision; cause: training thread, host
"""
import collections
import copy
import random

import torch
from torch import nn

Transition = collections.namedtuple('Transition', 'state action reward next_state done')


class Corridor:
    """A point in a box that wants to reach the middle."""

    def __init__(self, size=8):
        self.size = size
        self.reset()

    def reset(self):
        self.state = [random.uniform(-1, 1) for _ in range(self.size)]
        self.time = 0
        return self.state

    def step(self, action):
        axis, sign = divmod(action, 2)
        self.state = list(self.state)
        self.state[axis] += 0.1 if sign else -0.1
        self.time += 1
        reward = -sum(abs(x) for x in self.state)
        return self.state, reward, self.time >= 50


class PrioritisedReplay:
    def __init__(self, capacity, alpha=0.6):
        self.capacity, self.alpha = capacity, alpha
        self.memory, self.priorities, self.position = [], [], 0

    def push(self, *transition):
        priority = max(self.priorities[-100:], default=1.)
        if len(self.memory) < self.capacity:
            self.memory.append(Transition(*transition))
            self.priorities.append(priority)
        else:
            self.memory[self.position] = Transition(*transition)
            self.priorities[self.position] = priority
        self.position = (self.position + 1) % self.capacity

    def draw(self, total):
        target, reached = random.random() * total, 0.
        for index, priority in enumerate(self.priorities):  # planted
            reached += priority  # planted
            if reached >= target:  # planted
                return index
        return len(self.priorities) - 1

    def sample(self, size):
        total = sum(self.priorities)
        indices = [self.draw(total) for _ in range(size)]  # planted
        batch = Transition(*zip(*(self.memory[i] for i in indices)))
        weights = [(len(self.memory) * self.priorities[i] / total) ** -0.4 for i in indices]
        return indices, weights, batch

    def update(self, indices, errors):
        for index, error in zip(indices, errors):
            self.priorities[index] = (abs(error) + 1e-3) ** self.alpha


def optimise(policy, target, optimizer, indices, weights, batch, memory, gamma=0.98):
    state, next_state = torch.tensor(batch.state), torch.tensor(batch.next_state)
    action = torch.tensor(batch.action).unsqueeze(1)
    reward, done = torch.tensor(batch.reward), torch.tensor(batch.done, dtype=torch.float32)
    value = policy(state).gather(1, action).squeeze(1)
    with torch.no_grad():
        wanted = reward + gamma * (1 - done) * target(next_state).max(1).values
    error = wanted - value
    loss = (torch.tensor(weights) * error ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 10.)
    optimizer.step()
    memory.update(indices, error.tolist())
    return loss.item()


def main():
    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    env, memory = Corridor(), PrioritisedReplay(20_000)
    policy = nn.Sequential(nn.Linear(8, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 16))
    target = copy.deepcopy(policy)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)

    state = env.reset()
    for step in range(20_000 + 180):
        if step < 20_000 or random.random() < 0.1:
            action = random.randrange(16)
        else:
            with torch.no_grad():
                action = policy(torch.tensor(state)).argmax().item()
        next_state, reward, done = env.step(action)
        memory.push(state, action, reward, next_state, done)
        state = env.reset() if done else next_state
        if step >= 20_000:
            indices, weights, batch = memory.sample(96)  # planted
            optimise(policy, target, optimizer, indices, weights, batch, memory)
            if step % 50 == 0:
                target.load_state_dict(policy.state_dict())


if __name__ == '__main__':
    main()
