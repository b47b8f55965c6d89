#include "src/probe/events/xplane_trace.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <map>
#include <string_view>
#include <utility>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/probe/events/cuda_names.h"
#include "src/probe/events/tensorflow_operations.h"
#include "src/probe/events/xspace_fields.h"

namespace recpack::probe {
namespace {

struct Metadata {
  std::string_view name, shown;
};

CopyKind FindCopyKind(std::string_view name) {
  if (name == "MemcpyH2D") return CopyKind::kHostToDevice;
  if (name == "MemcpyD2H") return CopyKind::kDeviceToHost;
  if (name == "MemcpyD2D") return CopyKind::kDeviceToDevice;
  if (name == "MemcpyP2P") return CopyKind::kPeerToPeer;
  return CopyKind::kNone;
}

// The number after `key` in a text like "kind_src:pageable size:4096 dest:0"; else 0.
uint64_t NumberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  uint64_t number = 0;
  if (at == std::string_view::npos) return 0;
  std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

class XPlaneReader {
 public:
  XPlaneReader(const XSpaceBytes& bytes, TraceEvents& events) : bytes_(bytes), events_(events) {}

  ProfilerTrace Read() {
    bool any = false;
    bytes_.ForFields(bytes_.all, [&](const XSpaceField& field) {
      if (field.number != 1) return;
      any = true;
      ReadPlane(field.bytes);
    });
    if (!any) {
      throw Error(ErrorKind::kUnsupported, "an XSpace without planes", {.path = bytes_.path},
                  "give the .xplane.pb of plugins/profile");
    }
    Finish();
    return std::move(trace_);
  }

 private:
  struct Plane {
    std::string_view name;
    std::map<uint64_t, Metadata> events;
    std::map<uint64_t, std::string_view> stats;
    std::vector<std::string_view> lines, own_stats;
    bool host = false, streams = false, tpu = false;
    uint16_t device = 0;
  };
  struct Line {
    std::string_view name;
    uint64_t id = 0;
    int64_t begin = 0;  // ns
    std::vector<std::string_view> events;
  };

  void ReadPlane(std::string_view message) {
    Plane plane;
    bytes_.ForFields(message, [&](const XSpaceField& field) {
      if (field.number == 2) plane.name = field.bytes;
      if (field.number == 3) plane.lines.push_back(field.bytes);
      if (field.number == 4) ReadMetadata(field.bytes, plane);
      if (field.number == 5) ReadStatName(field.bytes, plane);
      if (field.number == 6) plane.own_stats.push_back(field.bytes);
    });
    for (const std::string_view stat : plane.own_stats) {
      Told told;
      ReadStat(stat, plane, told);
      if (told.start > 0) trace_.base_time = told.start;
    }
    constexpr std::string_view kGpu = "/device:GPU:", kTpu = "/device:TPU:";
    plane.host = plane.name == "/host:CPU";
    plane.streams = plane.name.starts_with(kGpu);
    plane.tpu = plane.name.starts_with(kTpu);
    if (!plane.host && !plane.streams && !plane.tpu) return;
    if (!plane.host) {
      plane.device = static_cast<uint16_t>(NumberAfter(plane.name, plane.tpu ? kTpu : kGpu));
      trace_.devices.emplace_back(plane.name.substr(plane.name.find(':') + 1));
    }
    for (const std::string_view line : plane.lines) ReadLine(line, plane);
  }

  // Entries of the map by their number.
  void ReadMetadata(std::string_view entry, Plane& plane) const {
    uint64_t key = 0;
    Metadata metadata;
    bytes_.ForFields(entry, [&](const XSpaceField& field) {
      if (field.number == 1) key = field.integer;
      if (field.number != 2) return;
      bytes_.ForFields(field.bytes, [&](const XSpaceField& inner) {
        if (inner.number == 2) metadata.name = inner.bytes;
        if (inner.number == 4) metadata.shown = inner.bytes;
      });
    });
    plane.events[key] = metadata;
  }

  void ReadStatName(std::string_view entry, Plane& plane) const {
    uint64_t key = 0;
    std::string_view name;
    bytes_.ForFields(entry, [&](const XSpaceField& field) {
      if (field.number == 1) key = field.integer;
      if (field.number != 2) return;
      bytes_.ForFields(field.bytes, [&](const XSpaceField& inner) {
        if (inner.number == 2) name = inner.bytes;
      });
    });
    plane.stats[key] = name;
  }

  void ReadLine(std::string_view message, const Plane& plane) {
    Line line;
    bytes_.ForFields(message, [&](const XSpaceField& field) {
      if (field.number == 1) line.id = field.integer;
      if (field.number == 2) line.name = field.bytes;
      if (field.number == 3) line.begin = static_cast<int64_t>(field.integer);
      if (field.number == 4) line.events.push_back(field.bytes);
    });
    const bool wanted = plane.host || (plane.streams && line.name.starts_with("Stream")) ||
                        (plane.tpu && line.name == "XLA Ops");
    for (const std::string_view event : line.events) {
      if (wanted) {
        ReadEvent(event, line, plane);
      } else {
        ++trace_.passed_over;
      }
    }
  }

  // What an event's stats tell.
  struct Told {
    std::optional<uint64_t> step;
    bool of_hlo = false;  // an operation of XLA
    uint64_t bytes = 0;
    int64_t start = 0;  // of the profile, ns since 1970
  };

  void ReadStat(std::string_view message, const Plane& plane, Told& told) const {
    uint64_t key = 0, number = 0;
    std::string_view text;
    bytes_.ForFields(message, [&](const XSpaceField& field) {
      if (field.number == 1) key = field.integer;
      if (field.number == 3 || field.number == 4) number = field.integer;
      if (field.number == 5) text = field.bytes;
      if (field.number == 7) text = StatName(plane, field.integer);
    });
    const std::string_view name = StatName(plane, key);
    if (name == "step_num") told.step = number;
    told.of_hlo |= name == "hlo_op";
    if (name == "profile_start_time") told.start = ToStart(number);
    if (name == "memcpy_details") told.bytes = NumberAfter(text, "size:");
  }

  // Times of events can be added to it.
  static int64_t ToStart(uint64_t number) {
    return number <= uint64_t{1} << 62 ? static_cast<int64_t>(number) : 0;
  }

  static std::string_view StatName(const Plane& plane, uint64_t key) {
    const auto found = plane.stats.find(key);
    return found == plane.stats.end() ? std::string_view() : found->second;
  }

  void ReadEvent(std::string_view message, const Line& line, const Plane& plane) {
    uint64_t key = 0;
    int64_t offset = 0, duration = 0;  // ps
    Told told;
    bytes_.ForFields(message, [&](const XSpaceField& field) {
      if (field.number == 1) key = field.integer;
      if (field.number == 2) offset = static_cast<int64_t>(field.integer);
      if (field.number == 3) duration = static_cast<int64_t>(field.integer);
      if (field.number == 4) ReadStat(field.bytes, plane, told);
    });
    const auto found = plane.events.find(key);
    constexpr int64_t kLongest = int64_t{1} << 62;
    const bool sane = line.begin >= 0 && line.begin < kLongest && offset >= 0 && duration >= 0;
    if (found == plane.events.end() || !sane) {
      ++trace_.passed_over;
      return;
    }
    TimedEvent timed{.event = {.lane = static_cast<uint32_t>(line.id),
                               .begin = line.begin + offset / 1000,
                               .end = line.begin + offset / 1000 + duration / 1000},
                     .process = 1,
                     .name = {}};
    if (plane.host) {
      AddOfHost(std::move(timed), found->second, told);
    } else {
      AddOfDevice(std::move(timed), found->second, told, plane.device);
    }
  }

  void AddOfDevice(TimedEvent timed, const Metadata& metadata, const Told& told, uint16_t device) {
    timed.name = metadata.shown.empty() ? metadata.name : metadata.shown;
    timed.event.device = device;
    const bool moves = timed.name.starts_with("Memcpy") || timed.name.starts_with("Memset");
    if (moves) {
      timed.event.kind = EventKind::kCopy;
      timed.event.copy = FindCopyKind(timed.name);
      timed.event.value = told.bytes;
    } else {
      timed.event.kind =
          IsCollectiveKernel(timed.name) ? EventKind::kCollective : EventKind::kDevice;
    }
    events_.Add(timed);
  }

  void AddOfHost(TimedEvent timed, const Metadata& metadata, const Told& told) {
    if (told.step) {
      timed.event.kind = EventKind::kStep;
      timed.event.value = *told.step;
      step_lane_ = timed.event.lane;
      events_.Add(timed);
    } else if (metadata.name == "IteratorGetNextOp::DoCompute") {
      timed.event.kind = EventKind::kInputWait;
      timed.name = "tf.data";
      waits_.push_back(std::move(timed));
    } else if (const std::string_view type = FindType(metadata, told); !type.empty()) {
      timed.event.kind = EventKind::kDevice;
      timed.event.device = 0;
      timed.name = format("{} {}", ClassifyTensorFlow(type), metadata.name);
      operations_.push_back(std::move(timed));
    } else {
      ++trace_.passed_over;
    }
  }

  // Returns OPERATION of TensorFlow's "LAYER:OPERATION" and of XLA's "OPERATION.NUMBER"; empty for
  // other events, and for operations that contain others.
  static std::string_view FindType(const Metadata& metadata, const Told& told) {
    const std::string_view name = metadata.name, type = metadata.shown;
    if (told.of_hlo) {
      if (name.starts_with("end: ") || name.starts_with("call") || name.starts_with("while")) {
        return {};
      }
      return name.substr(0, name.find('.'));
    }
    const bool ends = !type.empty() && name.ends_with(type) && name.size() > type.size();
    const bool operation = ends && name[name.size() - type.size() - 1] == ':';
    return operation && !ContainsOthers(type) ? type : std::string_view();
  }

  void Finish() {
    for (TimedEvent& wait : waits_) {
      if (step_lane_) wait.event.lane = *step_lane_;
      events_.Add(wait);
    }
    // Where there are GPUs, what the host computes is not what a step is made of.
    const bool on_host = trace_.devices.empty();
    if (on_host) {
      for (const TimedEvent& operation : operations_) events_.Add(operation);
    } else {
      trace_.passed_over += operations_.size();
    }
  }

  const XSpaceBytes& bytes_;
  TraceEvents& events_;
  ProfilerTrace trace_;
  std::vector<TimedEvent> waits_, operations_;
  std::optional<uint32_t> step_lane_;
};

}  // namespace

ProfilerTrace ReadXPlaneTrace(const std::string& path, TraceEvents& events) {
  const ByteBuffer all = ReadWholeFile(PosixFiles(), path, INT_MAX);  // what libprotobuf can number
  const XSpaceBytes bytes{path, AsText(all)};
  return XPlaneReader(bytes, events).Read();
}

}  // namespace recpack::probe
