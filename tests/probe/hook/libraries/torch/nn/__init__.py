"""Fake of torch.nn."""
