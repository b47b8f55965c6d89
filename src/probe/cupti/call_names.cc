#include "src/probe/cupti/call_names.h"

#include <string_view>

#include "src/probe/events/cuda_names.h"

namespace recpack::probe {
namespace {

// cudaLaunchKernel_v7000, cuMemcpyHtoDAsync_v2_ptsz: as they are written in programs.
std::string_view Plain(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const size_t version = name.rfind("_v");
  const bool is_version =
      version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
  return is_version ? Plain(name.substr(0, version)) : name;
}

}  // namespace

std::vector<std::string> WorkCalls(const CuptiApi& api, CUpti_CallbackDomain domain) {
  const uint32_t count = domain == CUPTI_CB_DOMAIN_RUNTIME_API
                             ? static_cast<uint32_t>(CUPTI_RUNTIME_TRACE_CBID_SIZE)
                             : static_cast<uint32_t>(CUPTI_DRIVER_TRACE_CBID_SIZE);
  std::vector<std::string> names(count);
  for (uint32_t call = 1; call < count; ++call) {
    const char* name = nullptr;
    if (api.callback_name(domain, call, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (IsHostWork(name)) names[call] = Plain(name);
  }
  return names;
}

}  // namespace recpack::probe
