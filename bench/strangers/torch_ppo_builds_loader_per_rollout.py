"""PPO on a swarm of balancing poles, with a new DataLoader and new workers for every short rollout.

environment: vision; cause: worker restarts
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical
from torch.utils.data import DataLoader, TensorDataset

NUM_ENVS = 32
HORIZON = 16
MINIBATCH = 128
UPDATES = 75
GAMMA, CLIP = 0.97, 0.2


class Poles:
    """A batch of poles that fall over; force left or right."""

    def __init__(self, n):
        self.angle = torch.zeros(n)
        self.speed = torch.zeros(n)
        self.reset(torch.ones(n, dtype=torch.bool))

    def reset(self, mask):
        self.angle[mask] = 0.1 * torch.randn(int(mask.sum()))
        self.speed[mask] = 0.1 * torch.randn(int(mask.sum()))

    def observe(self):
        return torch.stack([self.angle, self.speed, self.angle.sin(), self.angle.cos()], dim=1)

    def step(self, action):
        force = action.float() * 2 - 1
        self.speed += 0.05 * (9.8 * self.angle.sin() + 6.0 * force)
        self.angle += 0.05 * self.speed
        fallen = self.angle.abs() > 0.6
        reward = 1.0 - fallen.float()
        self.reset(fallen)
        return reward, fallen


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.policy = nn.Linear(128, 2)
        self.value = nn.Linear(128, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


@torch.no_grad()
def rollout(agent, envs):
    rows, rewards, ends = [], [], []
    for _ in range(HORIZON):
        obs = envs.observe()
        dist, value = agent(obs)
        action = dist.sample()
        reward, end = envs.step(action)
        rows.append((obs, action, dist.log_prob(action), value))
        rewards.append(reward)
        ends.append(end.float())
    running = agent(envs.observe())[1]
    returns = []
    for reward, end in zip(reversed(rewards), reversed(ends)):
        running = reward + GAMMA * (1 - end) * running
        returns.insert(0, running)
    obs, action, logp, value = (torch.cat(column) for column in zip(*rows))
    returns = torch.cat(returns)
    return TensorDataset(obs, action, logp, returns, returns - value), torch.stack(rewards).mean()


def update(agent, optimizer, data):
    loader = DataLoader(data, batch_size=MINIBATCH, shuffle=True, num_workers=2)  # planted
    for obs, action, old_logp, returns, advantage in loader:  # planted
        dist, value = agent(obs)
        ratio = (dist.log_prob(action) - old_logp).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        loss = -gain + 0.5 * F.mse_loss(value, returns) - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    agent, envs = Agent(), Poles(NUM_ENVS)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
    for n in range(UPDATES):
        data, reward = rollout(agent, envs)
        update(agent, optimizer, data)
        if n % 20 == 0:
            print(f"update {n}: mean reward {reward:.3f}")


if __name__ == "__main__":
    main()
