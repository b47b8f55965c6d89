// Entry points that CUDA and NVTX call in a process whose environment names this library in
// CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH.
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "recpack/base/event_log.h"
#include "src/probe/cupti/cupti_api.h"
#include "src/probe/cupti/cupti_trace.h"

namespace recpack::probe {
namespace {

CuptiTrace* trace = nullptr;  // never destroyed

void Start() {
  auto log = EventLog::Open("cupti");
  if (log == nullptr) return;  // recprobe does not watch this process
  trace = new CuptiTrace(std::move(log));
  if (trace->Start()) std::atexit([] { trace->Finish(); });
}

}  // namespace
}  // namespace recpack::probe

extern "C" {

#define RECPACK_EXPORT __attribute__((visibility("default")))

// Called once, by cuInit(). Errors never stop the program.
RECPACK_EXPORT int InitializeInjection() {
  try {
    recpack::probe::Start();
  } catch (const std::exception& error) {
    recpack::probe::Notice(std::string("nothing is traced: ") + error.what());
  }
  return 1;
}

// Called at the first use of NVTX. Passes the ranges to the CUPTI library that traces.
RECPACK_EXPORT int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  try {
    recpack::probe::CuptiApi::NvtxInitialize* const initialize =
        recpack::probe::Cupti().nvtx_initialize;
    return initialize == nullptr ? 0 : initialize(get_export_table);
  } catch (const std::exception&) {  // no CUPTI: InitializeInjection() writes the notice
    return 0;
  }
}

}  // extern "C"
