// Fuzzes traces of TensorFlow's and JAX's profilers.
#include "src/probe/events/xplane_trace.h"
#include "tests/fuzz/fuzz_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return recpack::probe::FuzzTrace(data, size, recpack::probe::ReadXPlaneTrace);
}
