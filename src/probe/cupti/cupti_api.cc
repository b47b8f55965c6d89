#include "src/probe/cupti/cupti_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/events/cuda_names.h"

#ifndef RECPACK_CUPTI_PATH
#define RECPACK_CUPTI_PATH ""
#endif

namespace recpack::probe {
namespace {

const char* NamedLibrary() {
  const char* name = std::getenv("RECPACK_CUPTI");
  return name == nullptr ? "" : name;
}

// Prefers a loaded library, such as PyTorch's: a second copy would count as a second profiler.
std::string LibraryName() {
  if (*NamedLibrary() != '\0') return NamedLibrary();
  constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const int loaded : {RTLD_NOLOAD, 0}) {
    for (const char* name : kNames) {
      if (dlopen(name, RTLD_LAZY | loaded) != nullptr) return name;
    }
  }
  return kNames[0];
}

template <typename Function>
void FindIfThere(const SharedLibrary& library, Function*& function, const char* name) {
  try {
    library.Find(function, name);
  } catch (const Error&) {  // an older version of CUPTI
    function = nullptr;
  }
}

// Removes suffixes: cudaLaunchKernel_v7000 and cuMemcpyHtoDAsync_v2_ptsz lose theirs.
std::string_view WithoutSuffixes(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const size_t version = name.rfind("_v");
  const bool is_version =
      version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
  return is_version ? WithoutSuffixes(name.substr(0, version)) : name;
}

}  // namespace

CuptiApi::CuptiApi()
    : library(LibraryName(), *NamedLibrary() == '\0' ? RECPACK_CUPTI_PATH : "",
              "install CUDA's CUPTI (extras/CUPTI of the toolkit, or the package "
              "nvidia-cuda-cupti), or name its libcupti.so in RECPACK_CUPTI") {
  library.Find(subscribe, "cuptiSubscribe");
  library.Find(result_string, "cuptiGetResultString");
  library.Find(timestamp, "cuptiGetTimestamp");
  library.Find(callback_name, "cuptiGetCallbackName");
  library.Find(register_callbacks, "cuptiActivityRegisterCallbacks");
  library.Find(enable, "cuptiActivityEnable");
  library.Find(next_record, "cuptiActivityGetNextRecord");
  library.Find(dropped_records, "cuptiActivityGetNumDroppedRecords");
  library.Find(flush_all, "cuptiActivityFlushAll");
#if CUPTI_API_VERSION >= 130000
  FindIfThere(library, subscribe_named, "cuptiSubscribe_v2");
#endif
  FindIfThere(library, register_timestamp, "cuptiActivityRegisterTimestampCallback");
  FindIfThere(library, set_thread_id_type, "cuptiSetThreadIdType");
  FindIfThere(library, enable_runtime_call, "cuptiActivityEnableRuntimeApi");
  FindIfThere(library, enable_driver_call, "cuptiActivityEnableDriverApi");
  FindIfThere(library, nvtx_initialize, "InitializeInjectionNvtx2");
}

std::string CuptiApi::Text(CUptiResult code) const {
  const char* text = nullptr;
  if (result_string(code, &text) != CUPTI_SUCCESS || text == nullptr) text = "no text";
  return format("{} (CUPTI error {})", text, static_cast<int>(code));
}

const CuptiApi& Cupti() {
  static const CuptiApi& api = *new CuptiApi;  // never destroyed: CUDA's threads use it to the end
  return api;
}

std::vector<std::string> WorkCalls(const CuptiApi& api, CUpti_CallbackDomain domain) {
  const uint32_t count = domain == CUPTI_CB_DOMAIN_RUNTIME_API
                             ? static_cast<uint32_t>(CUPTI_RUNTIME_TRACE_CBID_SIZE)
                             : static_cast<uint32_t>(CUPTI_DRIVER_TRACE_CBID_SIZE);
  std::vector<std::string> names(count);
  for (uint32_t call = 1; call < count; ++call) {
    const char* name = nullptr;
    if (api.callback_name(domain, call, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (IsHostWork(name)) names[call] = WithoutSuffixes(name);
  }
  return names;
}

}  // namespace recpack::probe
