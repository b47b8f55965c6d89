"""Prints how busy a traced program's GPUs were, from `recprobe read --json`: trace_row.py TRACE NOTICE."""
import json
import sys

trace = json.load(open(sys.argv[1]))
notice = ' '.join(open(sys.argv[2]).read().split())
keys = ('utilisation', 'copy_overlap', 'time_ns', 'compute_ns', 'copies_ns', 'idle_ns')
rows = [{'number': device['device'], **{key: device[key] for key in keys}}
        for device in trace['devices']]
for row in rows or [{'unavailable': notice or 'the trace has no kernels'}]:
    print(json.dumps(row))
