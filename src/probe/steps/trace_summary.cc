#include "src/probe/steps/trace_summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "src/base/format.h"
#include "src/probe/events/hook_ranges.h"
#include "src/probe/events/operation_class.h"
#include "src/probe/steps/device_use.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostNames = 1000;  // per table

// Adds the calls of `more`, which has any, to a row.
void Join(const TraceRow& more, TraceRow& row) {
  row.min = row.calls == 0 ? more.min : std::min(row.min, more.min);
  row.max = std::max(row.max, more.max);
  row.time += more.time;
  row.calls += more.calls;
  row.bytes += more.bytes;
}

// Accumulates the rows of a table by name.
class Tally {
 public:
  explicit Tally(std::string title) { table_.title = std::move(title); }

  void Add(const std::string& name, const Event& event) {
    const int64_t time = event.end - event.begin;
    const bool moves = event.kind == EventKind::kCopy || event.kind == EventKind::kCollective;
    Add({.name = name,
         .time = time,
         .calls = 1,
         .min = time,
         .max = time,
         .bytes = moves ? event.value : 0});
  }

  void Add(const TraceRow& more) {
    const auto [found, is_new] = rows_.try_emplace(more.name, table_.rows.size());
    if (is_new) table_.rows.push_back({.name = more.name});
    Join(more, table_.rows[found->second]);
    table_.time += more.time;
  }

  // Sets each row's class of operation. Returns a table by these.
  Tally Classify(std::string title) {
    Tally classes(std::move(title));
    for (TraceRow& row : table_.rows) {
      row.operation = ClassifyOperation(row.name);
      TraceRow of_class = row;
      of_class.name = row.operation;
      classes.Add(of_class);
    }
    return classes;
  }

  TraceTable Take() {
    std::sort(table_.rows.begin(), table_.rows.end(), [](const TraceRow& a, const TraceRow& b) {
      return a.time != b.time ? a.time > b.time : a.name < b.name;
    });
    JoinTheLeast();
    return std::move(table_);
  }

 private:
  // Joins the smallest rows, as names that contain numbers may be as many as calls.
  void JoinTheLeast() {
    std::vector<TraceRow>& rows = table_.rows;
    if (rows.size() <= kMostNames) return;
    TraceRow others = rows[kMostNames];
    others.name = format("[{} other names]", rows.size() - kMostNames);
    others.operation.clear();
    for (size_t i = kMostNames + 1; i < rows.size(); ++i) Join(rows[i], others);
    rows.resize(kMostNames);
    rows.push_back(std::move(others));
  }

  TraceTable table_;
  std::unordered_map<std::string, size_t> rows_;
};

// Returns nvprof's name for the copy.
std::string CopyName(const TimedEvent& copy) {
  switch (copy.event.copy) {
    case CopyKind::kHostToDevice:
      return "[CUDA memcpy HtoD]";
    case CopyKind::kDeviceToHost:
      return "[CUDA memcpy DtoH]";
    case CopyKind::kDeviceToDevice:
      return "[CUDA memcpy DtoD]";
    case CopyKind::kPeerToPeer:
      return "[CUDA memcpy PtoP]";
    case CopyKind::kNone:
      return copy.name.empty() ? "[copy]" : "[" + copy.name + "]";
  }
  return {};
}

// The activities of one device, in any order.
class DevicePieces {
 public:
  explicit DevicePieces(size_t longest_gaps) : sweep_(longest_gaps) {}

  void Add(const Event& event) {
    const auto work = event.kind == EventKind::kCopy         ? DeviceSweep::kCopy
                      : event.kind == EventKind::kCollective ? DeviceSweep::kExchange
                                                             : DeviceSweep::kCompute;
    pieces_.push_back({{event.begin, event.end}, work});
    if (work != DeviceSweep::kCopy) streams_.insert(event.lane);
  }

  // Sums up those that begin before `time`, as all to come begin then or later.
  void Settle(int64_t time) {
    const auto later = std::partition(pieces_.begin(), pieces_.end(), [time](const Piece& piece) {
      return piece.interval.begin < time;
    });
    std::sort(pieces_.begin(), later,
              [](const Piece& a, const Piece& b) { return a.interval.begin < b.interval.begin; });
    for (auto piece = pieces_.begin(); piece != later; ++piece) {
      sweep_.Add(piece->work, piece->interval);
    }
    pieces_.erase(pieces_.begin(), later);
  }

  DeviceUse Finish() {
    Settle(INT64_MAX);
    DeviceUse use = sweep_.Finish();
    use.streams = streams_.size();
    return use;
  }

 private:
  struct Piece {
    Interval interval;
    DeviceSweep::Work work;
  };

  std::vector<Piece> pieces_;
  std::set<uint32_t> streams_;  // of kernels
  DeviceSweep sweep_;
};

}  // namespace

struct TraceSums::State {
  explicit State(size_t gaps) : longest_gaps(gaps) {}

  const size_t longest_gaps;
  Tally activities{"Device activities"};
  Tally collectives{"NCCL"};
  Tally calls{"CUDA calls"};
  Tally ranges{"Ranges"};
  std::map<std::pair<int, int>, DevicePieces> devices;

  void Add(const TimedEvent& timed) {
    const Event& event = timed.event;
    if (event.open || event.end < event.begin) return;
    switch (event.kind) {
      case EventKind::kDevice:
        activities.Add(timed.name, event);
        break;
      case EventKind::kCollective:
        activities.Add(timed.name, event);
        collectives.Add(timed.name, event);
        break;
      case EventKind::kCopy:
        activities.Add(CopyName(timed), event);
        break;
      case EventKind::kHost:
        // Without a name it is a whole step of a trainer whose device reports its own work.
        if (!timed.name.empty()) calls.Add(timed.name, event);
        break;
      case EventKind::kRange:
        if (!IsHookRange(timed)) ranges.Add(timed.name, event);
        break;
      case EventKind::kStep:
      case EventKind::kInputWait:
        return;
    }
    const bool on_device = event.device != Event::kNoDevice;
    if (on_device && event.kind != EventKind::kRange && event.kind != EventKind::kHost) {
      devices.try_emplace({timed.process, event.device}, longest_gaps).first->second.Add(event);
    }
  }
};

TraceSums::TraceSums(size_t longest_gaps) : state_(std::make_unique<State>(longest_gaps)) {}

TraceSums::~TraceSums() = default;

void TraceSums::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& event : events) state_->Add(event);
}

void TraceSums::Settle(int64_t time) {
  for (auto& [key, pieces] : state_->devices) pieces.Settle(time);
}

TraceSummary TraceSums::Take() {
  State& sums = *state_;
  TraceSummary summary;
  Tally operations = sums.activities.Classify("Operations");
  for (Tally* tally :
       {&operations, &sums.activities, &sums.collectives, &sums.calls, &sums.ranges}) {
    if (TraceTable table = tally->Take(); !table.rows.empty()) {
      summary.tables.push_back(std::move(table));
    }
  }
  for (auto& [key, pieces] : sums.devices) {
    DeviceUse use = pieces.Finish();
    use.process = key.first;
    use.device = key.second;
    summary.devices.push_back(std::move(use));
  }
  return summary;
}

TraceSummary Summarise(const std::vector<TimedEvent>& events, size_t longest_gaps) {
  TraceSums sums(longest_gaps);
  sums.Add(events);
  return sums.Take();
}

}  // namespace recpack::probe
