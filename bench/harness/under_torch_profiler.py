"""Runs a program of bench/strangers/ under PyTorch's profiler, and prints in which function of the program most time went.

    python bench/harness/under_torch_profiler.py PROGRAM

Reads what a user sees in the trace of profile(with_stack=True): the calls of Python functions, and how long they took. A
function's time is without that of other functions of the program that it calls, and without waits for the DataLoader.
Worker processes are not profiled. The last line is JSON: the function, and a line of it.
"""
import collections
import json
import os
import runpy
import sys

import torch
from torch.profiler import ProfilerActivity, profile


def of_function(call, program: str) -> tuple[str, int] | None:
    """Returns the name and a line of a function of the program; of the DataLoader's next, ('', 0)."""
    place = call.extra_fields.callsite
    if os.path.basename(place.file_name) == os.path.basename(program):
        return place.function_name, place.line_number
    waits = place.function_name == '__next__' and place.file_name.endswith('torch/utils/data/dataloader.py')
    return ('', 0) if waits else None


def longest(roots: list, program: str) -> tuple[str, int] | None:
    times: collections.Counter = collections.Counter()
    left = [(event, None) for event in roots]
    while left:
        event, within = left.pop()
        function = of_function(event, program) if event.tag.name == 'PyCall' else None
        if function is not None:
            times[function] += event.duration_time_ns
            times[within] -= event.duration_time_ns
            within = function
        left += [(child, within) for child in event.children]
    own = [(time, function) for function, time in times.items() if function not in (None, ('', 0))]
    return max(own)[1] if own else None


def main() -> None:
    program = sys.argv[1]
    sys.argv = [program]
    verbose = torch._C._profiler._ExperimentalConfig(verbose=True)  # without it, calls have no files
    with profile(activities=[ProfilerActivity.CPU], with_stack=True, experimental_config=verbose) as profiler:
        runpy.run_path(program, run_name='__main__')
    found = longest(profiler.profiler.kineto_results.experimental_event_tree(), program)
    print(json.dumps({'function': found[0], 'line': found[1]} if found else {}))


if __name__ == '__main__':
    main()
