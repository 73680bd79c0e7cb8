"""The book's networks and device-lab's convnet in PyTorch, with the names and shapes of their state dicts."""
import torch
from torch import nn

BOOK_LR = {"softmax": 0.1, "mlp": 0.1, "lenet": 0.9, "resnet18": 0.1}


class Named(nn.Module):
    """Prefixes parameter names with "net.", like the book's classes."""

    def __init__(self, *layers):
        super().__init__()
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, padding=1, stride=stride)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        reshapes = stride != 1 or inputs != channels
        self.conv3 = nn.Conv2d(inputs, channels, 1, stride=stride) if reshapes else None
        self.bn1 = nn.BatchNorm2d(channels)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + (x if self.conv3 is None else self.conv3(x)))


def resnet18():
    net = nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
    inputs = 64
    for block, channels in enumerate([64, 128, 256, 512], start=1):
        first = Residual(inputs, channels, stride=1 if block == 1 else 2)
        net.add_module(f"resnet_block{block}", nn.Sequential(first, Residual(channels, channels)))
        inputs = channels
    net.add_module("global_avg_pool", nn.AdaptiveAvgPool2d((1, 1)))
    net.add_module("fc", nn.Sequential(nn.Flatten(), nn.Linear(512, 10)))
    return net


def convnet():
    layers = []
    inputs = 1
    for channels in (16, 32, 64):
        layers += [nn.AvgPool2d(2)] if layers else []
        layers += [nn.Conv2d(inputs, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()]
        inputs = channels
    return Named(*layers, nn.Flatten(), nn.Linear(7 * 7 * inputs, 10))


def build(model):
    if model == "softmax":
        return Named(nn.Flatten(), nn.Linear(784, 10))
    if model == "mlp":
        return Named(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    if model == "lenet":
        return Named(nn.Conv2d(1, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2, 2),
                     nn.Conv2d(6, 16, 5), nn.Sigmoid(), nn.AvgPool2d(2, 2), nn.Flatten(),
                     nn.Linear(400, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(),
                     nn.Linear(84, 10))
    return convnet() if model == "convnet" else resnet18()
