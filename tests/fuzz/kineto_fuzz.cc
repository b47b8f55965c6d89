// Fuzzes traces of PyTorch's profiler: they are refused, or events end after they begin and sums
// are no less than their parts.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "recpack/base/error.h"
#include "src/probe/events/kineto_trace.h"
#include "src/probe/steps/trace_summary.h"

namespace {

void Check(const recpack::probe::KinetoTrace& trace) {
  for (const recpack::probe::TimedEvent& event : trace.events) {
    if (event.event.end < event.event.begin) std::abort();
  }
  for (const recpack::probe::DeviceUse& use : recpack::probe::Summarise(trace.events).devices) {
    if (use.kernels > use.duration() || use.covered_copies > use.copies) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = ::memfd_create("trace", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    Check(recpack::probe::ReadKinetoTrace("/proc/self/fd/" + std::to_string(file)));
  } catch (const recpack::Error& error) {
    const bool refusal = error.kind() == recpack::ErrorKind::kCorrupt ||
                         error.kind() == recpack::ErrorKind::kUnsupported;
    if (!refusal) throw;
  }
  return 0;
}
