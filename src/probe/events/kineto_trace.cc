#include "src/probe/events/kineto_trace.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "src/probe/events/cuda_names.h"
#include "src/probe/events/kineto_json.h"

namespace recpack::probe {
namespace {

constexpr std::string_view kStepName = "ProfilerStep#";

CopyKind ToCopyKind(std::string_view name) {
  constexpr std::pair<std::string_view, CopyKind> kKinds[] = {
      {"Memcpy HtoD", CopyKind::kHostToDevice},   {"Memcpy HtoA", CopyKind::kHostToDevice},
      {"Memcpy DtoH", CopyKind::kDeviceToHost},   {"Memcpy AtoH", CopyKind::kDeviceToHost},
      {"Memcpy DtoD", CopyKind::kDeviceToDevice}, {"Memcpy PtoP", CopyKind::kPeerToPeer}};
  for (const auto& [prefix, kind] : kKinds) {
    if (name.starts_with(prefix)) return kind;
  }
  return CopyKind::kNone;
}

// Returns the bytes of an element by PyTorch's name of its type; 0 if unknown.
uint64_t ElementSize(std::string_view type) {
  constexpr std::pair<std::string_view, uint64_t> kSizes[] = {
      {"Float", 4},        {"Half", 2},          {"BFloat16", 2},      {"Double", 8},
      {"Int", 4},          {"Long", 8},          {"Short", 2},         {"Char", 1},
      {"Byte", 1},         {"Bool", 1},          {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1},
      {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  for (const auto& [name, size] : kSizes) {
    if (name == type) return size;
  }
  return 0;
}

bool OnDevice(const KinetoEvent& event) {
  return event.category == "kernel" || event.category == "gpu_memcpy" ||
         event.category == "gpu_memset";
}

// Returns nullopt for events that are not used.
std::optional<EventKind> ToEventKind(const KinetoEvent& event) {
  if (event.category == "kernel") {
    return IsCollectiveKernel(event.name) ? EventKind::kCollective : EventKind::kDevice;
  }
  if (OnDevice(event)) return EventKind::kCopy;
  if (event.category == "cuda_runtime" || event.category == "cuda_driver") {
    if (IsHostWork(event.name)) return EventKind::kHost;
    return {};
  }
  // Up to PyTorch 1.9, annotations have the category of operators.
  const bool annotation = event.category == "user_annotation";
  if (!annotation && event.category != "cpu_op" && event.category != "Operator") return {};
  if (event.name.starts_with(kStepName)) return EventKind::kStep;
  if (event.name.starts_with("enumerate(DataLoader)#") && event.name.ends_with("__next__")) {
    return EventKind::kInputWait;
  }
  if (annotation) return EventKind::kRange;
  return {};
}

uint64_t ToValue(EventKind kind, const KinetoEvent& event) {
  const auto count = [](const std::optional<int64_t>& number) {
    return static_cast<uint64_t>(std::max<int64_t>(number.value_or(0), 0));
  };
  if (kind == EventKind::kStep) {
    uint64_t step = 0;
    const char* digits = event.name.data() + kStepName.size();
    std::from_chars(digits, event.name.data() + event.name.size(), step);
    return step;
  }
  if (kind == EventKind::kCopy) return count(event.bytes);
  if (kind == EventKind::kCollective) {
    return count(event.elements) * ElementSize(event.element_type);
  }
  return 0;
}

TimedEvent ToTimedEvent(EventKind kind, KinetoEvent& event) {
  TimedEvent timed;
  timed.event.kind = kind;
  timed.event.begin = *event.begin;
  timed.event.end = *event.begin + std::max<int64_t>(event.duration.value_or(0), 0);
  timed.event.value = ToValue(kind, event);
  timed.process = static_cast<int>(event.process.value_or(0));
  if (OnDevice(event)) {
    timed.event.device =
        static_cast<uint16_t>(event.device.value_or(event.process.value_or(Event::kNoDevice)));
    timed.event.lane = static_cast<uint32_t>(event.stream.value_or(event.thread.value_or(0)));
    if (kind == EventKind::kCopy) timed.event.copy = ToCopyKind(event.name);
  } else {
    timed.event.lane = static_cast<uint32_t>(event.thread.value_or(0));
  }
  timed.name = std::move(event.name);
  return timed;
}

}  // namespace

ProfilerTrace ReadKinetoTrace(const std::string& path, TraceEvents& events) {
  ProfilerTrace trace;
  int process = 0;
  const KinetoHeader header = ReadKinetoJson(path, [&](KinetoEvent& event) {
    if (event.phase != "X" || !event.begin) return;
    const auto kind = ToEventKind(event);
    if (!kind) {
      ++trace.passed_over;
      return;
    }
    const TimedEvent timed = ToTimedEvent(*kind, event);
    if (process == 0 && !OnDevice(event)) process = timed.process;
    events.Add(timed);
  });
  if (!header.schema && events.empty()) {
    throw Error(ErrorKind::kUnsupported,
                "not a trace of PyTorch's profiler: its events are another program's",
                {.path = path},
                "give one as PyTorch's export_chrome_trace() writes it; of TensorFlow or JAX, the "
                ".xplane.pb beside it");
  }
  // Device events have the GPU's number in place of the process.
  events.SetDeviceProcess(process);
  trace.base_time = header.base_time;
  trace.devices = header.devices;
  trace.rank = header.rank;
  trace.world_size = header.world_size;
  return trace;
}

}  // namespace recpack::probe
