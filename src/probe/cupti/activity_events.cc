#include "src/probe/cupti/activity_events.h"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "src/probe/events/cuda_names.h"

namespace recpack::probe {
namespace {

// The oldest layouts of the records: later versions only append fields.
using Kernel = CUpti_ActivityKernel4;
using Copy = CUpti_ActivityMemcpy;
using PeerCopy = CUpti_ActivityMemcpyPtoP;
using Fill = CUpti_ActivityMemset;
using Marker = CUpti_ActivityMarker2;
#if CUPTI_API_VERSION >= 130000
static_assert(offsetof(Kernel, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(offsetof(Kernel, start) == offsetof(CUpti_ActivityKernel10, start));
static_assert(offsetof(Kernel, streamId) == offsetof(CUpti_ActivityKernel10, streamId));
static_assert(offsetof(Copy, streamId) == offsetof(CUpti_ActivityMemcpy6, streamId));
static_assert(offsetof(PeerCopy, streamId) == offsetof(CUpti_ActivityMemcpyPtoP4, streamId));
static_assert(offsetof(Fill, streamId) == offsetof(CUpti_ActivityMemset4, streamId));
#endif

template <typename Record>
const Record& As(const CUpti_Activity& record) {
  return *reinterpret_cast<const Record*>(&record);
}

CopyKind ToCopyKind(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyKind::kHostToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyKind::kDeviceToHost;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyKind::kDeviceToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyKind::kPeerToPeer;
    default:
      return CopyKind::kNone;
  }
}

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return text != nullptr ? text.get() : name;
}

}  // namespace

void ActivityEvents::SetCalls(std::vector<std::string> runtime, std::vector<std::string> driver) {
  runtime_calls_ = std::move(runtime);
  driver_calls_ = std::move(driver);
}

void ActivityEvents::Add(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return AddKernel(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return AddCopy<Copy>(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return AddCopy<PeerCopy>(record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return AddFill(record);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return AddCall(record, runtime_calls_);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return AddCall(record, driver_calls_);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return AddMarker(record);
    default:
      return;
  }
}

// Returns false if the record has no times, as the activity had not ended when CUPTI was flushed.
template <typename Record>
bool ActivityEvents::FillDeviceEvent(const Record& record, EventKind kind, Event& event) {
  if (record.start == 0 || record.end < record.start) {
    ++unfinished_;
    return false;
  }
  event.kind = kind;
  event.device = static_cast<uint16_t>(record.deviceId);
  event.lane = record.streamId;
  event.begin = clock_.FromCupti(record.start);
  event.end = clock_.FromCupti(record.end);
  return true;
}

void ActivityEvents::AddKernel(const CUpti_Activity& record) {
  const auto& kernel = As<Kernel>(record);
  const auto [name, kind] = ClassifyKernel(kernel.name == nullptr ? "" : kernel.name);
  Event event;
  if (!FillDeviceEvent(kernel, kind, event)) return;
  event.name = name;
  log_.Write(event);
}

template <typename Record>
void ActivityEvents::AddCopy(const CUpti_Activity& record) {
  const auto& copy = As<Record>(record);
  Event event;
  if (!FillDeviceEvent(copy, EventKind::kCopy, event)) return;
  event.copy = ToCopyKind(copy.copyKind);
  event.value = copy.bytes;
  event.name = Name("Memcpy");
  log_.Write(event);
}

void ActivityEvents::AddFill(const CUpti_Activity& record) {
  const auto& fill = As<Fill>(record);
  Event event;
  if (!FillDeviceEvent(fill, EventKind::kCopy, event)) return;
  event.value = fill.bytes;
  event.name = Name("Memset");
  log_.Write(event);
}

void ActivityEvents::AddCall(const CUpti_Activity& record, const std::vector<std::string>& names) {
  const auto& call = As<CUpti_ActivityAPI>(record);
  if (call.cbid >= names.size() || names[call.cbid].empty() || call.start == 0) return;
  log_.Write({.kind = EventKind::kHost,
              .lane = call.threadId,
              .name = Name(names[call.cbid]),
              .begin = clock_.FromCupti(call.start),
              .end = clock_.FromCupti(call.end)});
}

void ActivityEvents::AddMarker(const CUpti_Activity& record) {
  const auto& marker = As<Marker>(record);
  const uint64_t id = marker.id;
  const int64_t time = clock_.FromCupti(marker.timestamp);
  if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) {
    const auto open = ranges_.find(id);
    if (open == ranges_.end()) return;
    log_.Write({.kind = EventKind::kRange,
                .lane = open->second.lane,
                .name = open->second.name,
                .begin = open->second.begin,
                .end = time});
    ranges_.erase(open);
    return;
  }
  std::string name = marker.name == nullptr ? "" : marker.name;
  if (marker.domain != nullptr && *marker.domain != '\0') {
    name = std::string(marker.domain) + ":" + name;
  }
  const bool by_thread = marker.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
  const OpenRange range = {time, Name(name), by_thread ? marker.objectId.pt.threadId : 0};
  if ((marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) == 0) {  // instantaneous
    log_.Write({.kind = EventKind::kRange,
                .lane = range.lane,
                .name = range.name,
                .begin = time,
                .end = time});
  } else if (ranges_.size() < kMostOpenRanges) {
    ranges_[id] = range;
  } else {
    ++lost_ranges_;
  }
}

uint32_t ActivityEvents::Name(const std::string& name) {
  if (const auto known = names_.find(name); known != names_.end()) return known->second;
  if (names_.size() >= kMostNames) {
    ++unnamed_;
    return 0;
  }
  return names_[name] = log_.Name(name);
}

ActivityEvents::KernelKind ActivityEvents::ClassifyKernel(const char* mangled) {
  if (const auto known = kernels_.find(mangled); known != kernels_.end()) return known->second;
  const std::string name = Demangled(mangled);
  const KernelKind kernel = {
      Name(name), IsCollectiveKernel(name) ? EventKind::kCollective : EventKind::kDevice};
  if (kernels_.size() < kMostNames) kernels_[mangled] = kernel;
  return kernel;
}

}  // namespace recpack::probe
