// CUPTI's functions, loaded at run time.
#pragma once

#include <cupti.h>

#include <string>
#include <vector>

#include "recpack/base/shared_library.h"

namespace recpack::probe {

struct CuptiApi {
  using NvtxInitialize = int(const void* (*get_export_table)(uint32_t));

  // Uses the library that the process has already loaded, else the first that is found. The
  // environment variable RECPACK_CUPTI overrides it. Throws Error (kUnsupported) if there is none.
  CuptiApi();

  // Returns CUPTI's description of a code, and its number.
  std::string Text(CUptiResult code) const;

  SharedLibrary library;
  decltype(cuptiSubscribe)* subscribe = nullptr;
  decltype(cuptiGetResultString)* result_string = nullptr;
  decltype(cuptiGetTimestamp)* timestamp = nullptr;
  decltype(cuptiGetCallbackName)* callback_name = nullptr;
  decltype(cuptiActivityRegisterCallbacks)* register_callbacks = nullptr;
  decltype(cuptiActivityEnable)* enable = nullptr;
  decltype(cuptiActivityGetNextRecord)* next_record = nullptr;
  decltype(cuptiActivityGetNumDroppedRecords)* dropped_records = nullptr;
  decltype(cuptiActivityFlushAll)* flush_all = nullptr;

  // nullptr if this version of CUPTI lacks the function.
#if CUPTI_API_VERSION >= 130000
  decltype(cuptiSubscribe_v2)* subscribe_named = nullptr;
#endif
  CUptiResult (*register_timestamp)(uint64_t (*now)()) = nullptr;
  CUptiResult (*set_thread_id_type)(uint32_t type) = nullptr;
  CUptiResult (*enable_runtime_call)(CUpti_CallbackId call, uint8_t enable) = nullptr;
  CUptiResult (*enable_driver_call)(CUpti_CallbackId call, uint8_t enable) = nullptr;
  NvtxInitialize* nvtx_initialize = nullptr;
};

// Loads the library at the first call. Throws as the constructor, at every call.
const CuptiApi& Cupti();

// Returns the names of the domain's calls that launch, copy, allocate or wait (IsHostWork()), by
// callback id. Names of other calls are empty.
std::vector<std::string> WorkCalls(const CuptiApi& api, CUpti_CallbackDomain domain);

}  // namespace recpack::probe
