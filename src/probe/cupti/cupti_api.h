// CUPTI's functions, loaded at run time.
#pragma once

#include <cupti.h>

#include <string>

#include "recpack/base/shared_library.h"

namespace recpack::probe {

struct CuptiApi {
  using NvtxInitialize = int(const void* (*get_export_table)(uint32_t));

  // That which the process has loaded already, or the first that there is. RECPACK_CUPTI names
  // another. Throws Error (kUnsupported) where there is none.
  CuptiApi();

  // CUPTI's words for a code, and its number.
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

  // Null where this version has none.
#if CUPTI_API_VERSION >= 130000
  decltype(cuptiSubscribe_v2)* subscribe_named = nullptr;
#endif
  CUptiResult (*register_timestamp)(uint64_t (*now)()) = nullptr;
  CUptiResult (*set_thread_id_type)(uint32_t type) = nullptr;
  CUptiResult (*enable_runtime_call)(CUpti_CallbackId call, uint8_t enable) = nullptr;
  CUptiResult (*enable_driver_call)(CUpti_CallbackId call, uint8_t enable) = nullptr;
  NvtxInitialize* nvtx_initialize = nullptr;
};

// Loaded at the first call. Throws as its constructor does, each time.
const CuptiApi& Cupti();

}  // namespace recpack::probe
