// Fuzzes exports of Nsight Systems.
#include "src/probe/events/nsight_trace.h"
#include "tests/fuzz/fuzz_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return recpack::probe::FuzzTrace(data, size, recpack::probe::ReadNsightTrace);
}
