"""Runs a program of bench/strangers/ as TraceML's user would have written it: each step of its loop in trace_step().

    traceml run bench/harness/under_traceml.py --mode summary --logs-dir DIR --run-name NAME --args PROGRAM

TraceML needs two lines in the program, init() and `with trace_step(model):` around the body of the loop. They are put there by
wrapping the DataLoader's iterator.
"""
import gc
import runpy
import sys

import torch
import traceml_ai
from torch.utils.data import DataLoader


def largest_model() -> torch.nn.Module:
    models = [each for each in gc.get_objects() if isinstance(each, torch.nn.Module) and next(each.parameters(), None) is not None]
    return max(models, key=lambda model: sum(parameter.numel() for parameter in model.parameters()), default=torch.nn.Linear(1, 1))


def main() -> None:
    traceml_ai.init(mode='auto')
    iterate = DataLoader.__iter__

    def stepped(loader):
        model = largest_model()
        for batch in iterate(loader):
            with traceml_ai.trace_step(model):
                yield batch

    DataLoader.__iter__ = stepped
    program = sys.argv[1]
    sys.argv = [program]
    runpy.run_path(program, run_name='__main__')


if __name__ == '__main__':
    main()
