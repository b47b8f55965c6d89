// Reads traces of TensorFlow's and JAX's profilers (XSpace) as events.
#pragma once

#include <string>

#include "src/probe/events/profiler_trace.h"

namespace recpack::probe {

// Reads a HOST.xplane.pb, which tf.profiler.experimental and jax.profiler write into
// plugins/profile/TIME, by its published schema (xplane.proto of OpenXLA). Of GPUs, the lines of
// streams become kDevice, kCopy and kCollective; of TPUs, the line "XLA Ops" kDevice. Without
// either, operations of TensorFlow ("LAYER:OPERATION") and of XLA on CPUs become kDevice of device
// 0, named by their class and their name. Annotations with a step_num
// (tf.profiler.experimental.Trace, jax.profiler.StepTraceAnnotation) become kStep; iterators'
// DoCompute kInputWait of the thread with the steps, which waits for them. Reads the file at once.
//
// Throws Error: kNotFound, kIo; kCorrupt for a file that is cut or damaged; kUnsupported for one
// without planes.
ProfilerTrace ReadXPlaneTrace(const std::string& path, TraceEvents& events);

}  // namespace recpack::probe
