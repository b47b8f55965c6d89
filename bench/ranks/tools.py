"""Lines that tools ask for in a training loop, as their manuals show them."""
import contextlib
import json

import torch


class Tool:
    """One that asks for none, such as recprobe."""

    def begin(self, model):
        """Before the first step."""

    def batches(self, loader):
        return loader

    def step(self):
        return contextlib.nullcontext()

    def part(self, _name):
        return contextlib.nullcontext()

    def end(self):
        """After the last step."""


class TraceMl(Tool):
    def begin(self, model):
        import traceml_ai
        traceml_ai.init(mode='auto')
        self.trace_step = lambda: traceml_ai.trace_step(model)

    def step(self):
        return self.trace_step()


class Heartbeats(Tool):
    """nvidia-resiliency-ext under its ft_launcher: a heartbeat of each rank with each step."""

    def begin(self, model):
        from nvidia_resiliency_ext.fault_tolerance import RankMonitorClient
        self.client = RankMonitorClient()
        self.client.init_workload_monitoring()

    @contextlib.contextmanager
    def step(self):
        yield
        self.client.send_heartbeat()

    def end(self):
        self.client.shutdown_workload_monitoring()


class Resiliency(Tool):
    """nvidia-resiliency-ext: its detector of stragglers, by sections of the loop."""

    def begin(self, model):
        from nvidia_resiliency_ext.straggler import Detector
        Detector.initialize(gather_on_rank0=True)
        # Here is no GPU: nothing to wait for, and no kernels.
        torch.cuda.synchronize = lambda: None
        Detector.cupti_manager.get_results, Detector.cupti_manager.reset_results = dict, lambda: None
        self.detector = Detector

    def batches(self, loader):
        iterator = iter(loader)
        while True:
            with self.part('data'):
                batch = next(iterator, None)
            if batch is None:
                return
            yield batch

    def part(self, name):
        return self.detector.detection_section(name, profile_cuda=False)

    def end(self):
        report = self.detector.generate_report()
        if torch.distributed.get_rank() == 0:
            slow = report.identify_stragglers()['straggler_sections_relative']
            print('SAYS', json.dumps({name: sorted(each.rank for each in ranks) for name, ranks in slow.items()}), flush=True)


def find(name):
    return {'none': Tool, 'traceml': TraceMl, 'resiliency': Resiliency, 'heartbeats': Heartbeats}[name]()
