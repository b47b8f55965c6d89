#include "src/probe/events/nsight_trace.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/events/cuda_names.h"
#include "src/probe/events/sqlite_file.h"

namespace recpack::probe {
namespace {

// Eight bits of hardware and VM, 24 of process, 24 of thread.
constexpr int64_t kIds = int64_t{1} << 24;

// Values of ENUM_NSYS_EVENT_TYPE.
constexpr int64_t kMark = 34, kPushPopRange = 59, kStartEndRange = 60;

// By ENUM_CUDA_MEMCPY_OPER, which are CUPTI's numbers, and those of unified memory after them.
CopyKind ToCopyDirection(int64_t operation) {
  switch (operation) {
    case 1:   // HtoD
    case 3:   // HtoA
    case 11:  // unified memory, HtoD
      return CopyKind::kHostToDevice;
    case 2:   // DtoH
    case 4:   // AtoH
    case 12:  // unified memory, DtoH
      return CopyKind::kDeviceToHost;
    case 5:   // AtoA
    case 6:   // AtoD
    case 7:   // DtoA
    case 8:   // DtoD
    case 13:  // unified memory, DtoD
      return CopyKind::kDeviceToDevice;
    case 10:
      return CopyKind::kPeerToPeer;
    default:
      return CopyKind::kNone;
  }
}

// "cudaLaunchKernel_v7000" is cudaLaunchKernel.
std::string WithoutVersion(std::string_view call) {
  const size_t at = call.rfind("_v");
  const bool digits = at != std::string_view::npos && at + 2 < call.size() &&
                      call.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return std::string(digits ? call.substr(0, at) : call);
}

// Reads one export.
class NsightReader {
 public:
  NsightReader(const std::string& path, TraceEvents& events)
      : file_(path), path_(path), events_(events) {}

  ProfilerTrace Read() {
    if (!file_.HasTable("StringIds")) {
      throw Error(ErrorKind::kUnsupported, "not an export of Nsight Systems: it has no StringIds",
                  {.path = path_}, "write one by nsys export --type sqlite");
    }
    ReadKernels();
    ReadCopies();
    ReadFills();
    ReadCalls("CUPTI_ACTIVITY_KIND_RUNTIME");
    ReadCalls("CUPTI_ACTIVITY_KIND_DRIVER");
    ReadRanges();
    ReadTarget();
    return std::move(trace_);
  }

 private:
  using Columns = std::initializer_list<const char*>;

  // Calls `take` with the row's columns and, after them, the text that `name` is the number of.
  template <typename Take>
  void ForRows(const std::string& table, const Columns& columns, const std::string& name,
               const Take& take, const std::string& where = "") {
    if (!file_.HasTable(table)) return;
    std::string selected;
    for (const char* column : columns) selected += Column(table, column) + ", ";
    file_.Query(format("SELECT {}s.value FROM {} t LEFT JOIN StringIds s ON s.id = {}{}", selected,
                       table, Column(table, name), where),
                take);
  }

  std::string Column(const std::string& table, const std::string& column) {
    const std::string name = file_.ColumnOrNull(table, column);
    return name == "NULL" ? name : "t.\"" + name + "\"";
  }

  // Columns 0 to 4: start, end, deviceId, streamId, globalPid.
  void AddOnDevice(const SqliteRow& row, EventKind kind, std::string name, CopyKind copy = {},
                   uint64_t bytes = 0) {
    Add({.event = {.kind = kind,
                   .copy = copy,
                   .device = static_cast<uint16_t>(row.Integer(2)),
                   .lane = static_cast<uint32_t>(row.Integer(3)),
                   .begin = row.Integer(0),
                   .end = row.Integer(1),
                   .value = bytes},
         .process = static_cast<int>(row.Integer(4) / kIds % kIds),
         .name = std::move(name)});
  }

  void Add(const TimedEvent& event) {
    const bool ended = event.event.end >= event.event.begin;
    if (ended && event.event.begin >= 0) {
      events_.Add(event);
    } else {
      ++trace_.passed_over;
    }
  }

  void ReadKernels() {
    ForRows("CUPTI_ACTIVITY_KIND_KERNEL", {"start", "end", "deviceId", "streamId", "globalPid"},
            "demangledName", [this](const SqliteRow& row) {
              std::string name(row.Text(5));
              const auto kind =
                  IsCollectiveKernel(name) ? EventKind::kCollective : EventKind::kDevice;
              AddOnDevice(row, kind, std::move(name));
            });
  }

  void ReadCopies() {
    ForRows("CUPTI_ACTIVITY_KIND_MEMCPY",
            {"start", "end", "deviceId", "streamId", "globalPid", "copyKind", "bytes"}, "NULL",
            [this](const SqliteRow& row) {
              AddOnDevice(row, EventKind::kCopy, "Memcpy", ToCopyDirection(row.Integer(5)),
                          static_cast<uint64_t>(std::max<int64_t>(0, row.Integer(6))));
            });
  }

  void ReadFills() {
    ForRows("CUPTI_ACTIVITY_KIND_MEMSET",
            {"start", "end", "deviceId", "streamId", "globalPid", "bytes"}, "NULL",
            [this](const SqliteRow& row) {
              AddOnDevice(row, EventKind::kCopy, "Memset", CopyKind::kNone,
                          static_cast<uint64_t>(std::max<int64_t>(0, row.Integer(5))));
            });
  }

  // Columns 0 to 2: start, end, globalTid.
  void AddOnThread(const SqliteRow& row, EventKind kind, std::string name) {
    const int64_t thread = row.Integer(2);
    Add({.event = {.kind = kind,
                   .lane = static_cast<uint32_t>(thread % kIds),
                   .begin = row.Integer(0),
                   .end = row.IsNull(1) ? row.Integer(0) : row.Integer(1)},
         .process = static_cast<int>(thread / kIds % kIds),
         .name = std::move(name)});
  }

  void ReadCalls(const std::string& table) {
    ForRows(table, {"start", "end", "globalTid"}, "nameId", [this](const SqliteRow& row) {
      std::string name = WithoutVersion(row.Text(3));
      if (IsHostWork(name)) {
        AddOnThread(row, EventKind::kHost, std::move(name));
      } else {
        ++trace_.passed_over;
      }
    });
  }

  void ReadRanges() {
    ForRows("NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text"}, "textId",
            [this](const SqliteRow& row) {
              const int64_t type = row.Integer(3);
              const bool mark = type == kMark;
              const bool range = type == kPushPopRange || type == kStartEndRange;
              // A range without an end was open when the profiler stopped.
              if (!mark && (!range || row.IsNull(1))) {
                ++trace_.passed_over;
                return;
              }
              AddOnThread(row, EventKind::kRange, std::string(row.Text(row.IsNull(4) ? 5 : 4)));
            });
  }

  void ReadTarget() {
    ForRows("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, "NULL", [this](const SqliteRow& row) {
      trace_.base_time = std::max<int64_t>(0, row.Integer(0));
    });
    ForRows("TARGET_INFO_GPU", {"name"}, "NULL",
            [this](const SqliteRow& row) { trace_.devices.emplace_back(row.Text(0)); });
  }

  SqliteFile file_;
  const std::string path_;
  TraceEvents& events_;
  ProfilerTrace trace_;
};

}  // namespace

ProfilerTrace ReadNsightTrace(const std::string& path, TraceEvents& events) {
  return NsightReader(path, events).Read();
}

}  // namespace recpack::probe
