"""Fake of DistributedDataParallel, which measures what the test sets."""


class DistributedDataParallel:
    measured = {}

    def __init__(self, module):
        self.module = module

    def _set_ddp_runtime_logging_sample_rate(self, rate):
        self.rate = rate

    def _get_ddp_logging_data(self):
        return dict(self.measured)
