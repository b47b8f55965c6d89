#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/format.h"
#include "src/probe/report/report.h"

namespace recpack::probe {
namespace {

// Larger than any process or thread of Linux (4,194,304).
constexpr int kMachine = 9'999'999;
constexpr int kFirstTrack = 10'000'000;

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Microseconds, exact to the nanosecond.
std::string Micro(int64_t ns) {
  const char* const sign = ns < 0 ? "-" : "";
  const int64_t size = ns < 0 ? -ns : ns;
  return format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

const char* CategoryName(EventKind kind) {
  switch (kind) {
    case EventKind::kStep:
      return "step";
    case EventKind::kInputWait:
      return "input wait";
    case EventKind::kDevice:
      return "device";
    case EventKind::kCopy:
      return "copy";
    case EventKind::kCollective:
      return "exchange";
    case EventKind::kRange:
      return "range";
    case EventKind::kHost:
      return "host";
  }
  return "other";
}

const char* CopyName(CopyKind kind) {
  constexpr const char* kNames[] = {"copy or fill", "copy host to device", "copy device to host",
                                    "copy within a device", "copy between devices"};
  return kNames[static_cast<size_t>(kind)];
}

std::string EventName(const TimedEvent& timed) {
  if (timed.event.kind == EventKind::kStep) return format("step {}", timed.event.value);
  if (!timed.name.empty()) return timed.name;
  return timed.event.kind == EventKind::kCopy ? CopyName(timed.event.copy)
                                              : CategoryName(timed.event.kind);
}

// Events that share a line; several lines if they overlap without nesting.
struct Track {
  int process = 0;
  EventKind kind = EventKind::kRange;  // kRange also stands for kHost
  uint16_t device = Event::kNoDevice;
  uint32_t lane = 0;

  bool operator<(const Track& other) const {
    return std::tie(process, kind, device, lane) <
           std::tie(other.process, other.kind, other.device, other.lane);
  }

  std::string Name() const {
    const bool of_host = kind == EventKind::kStep || kind == EventKind::kInputWait ||
                         kind == EventKind::kRange || device == Event::kNoDevice;
    const std::string place = of_host ? format("thread {}", lane)
                                      : format("device {}, stream or thread {}", device, lane);
    return kind == EventKind::kRange ? place : format("{}: {}", place, CategoryName(kind));
  }
};

Track FindTrack(const TimedEvent& timed) {
  const Event& event = timed.event;
  const bool calls = event.kind == EventKind::kHost || event.kind == EventKind::kRange;
  return {timed.process, calls ? EventKind::kRange : event.kind,
          calls ? Event::kNoDevice : event.device, event.lane};
}

class Writer {
 public:
  Writer(const Report& report, int64_t end) : begin_(report.begin), end_(end) {}

  void Name(const char* what, int process, int thread, const std::string& name) {
    Add(format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process,
               thread, Quoted(name)));
  }

  // `events`: sorted by begin, longer ones first.
  void Add(const Track& track, const std::vector<const TimedEvent*>& events) {
    std::vector<std::vector<int64_t>> open;  // by line: ends of the open slices
    const int first = next_track_;
    for (const TimedEvent* timed : events) {
      const int64_t end = End(*timed);
      size_t line = 0;
      for (; line < open.size(); ++line) {
        while (!open[line].empty() && open[line].back() <= timed->event.begin) {
          open[line].pop_back();
        }
        if (open[line].empty() || open[line].back() >= end) break;
      }
      if (line == open.size()) {
        open.emplace_back();
        Name("thread_name", track.process, next_track_++,
             line == 0 ? track.Name() : format("{} ({})", track.Name(), line + 1));
      }
      open[line].push_back(end);
      Slice(*timed, first + static_cast<int>(line), end);
    }
  }

  void Counters(const Timeline& timeline) {
    if (timeline.series.empty()) return;
    Name("process_name", kMachine, kMachine, "machine, devices and loaders");
    for (const TimelineSeries& series : timeline.series) {
      const std::string name = Quoted(
          format("{}: {}{}{}", series.group, series.of, series.of.empty() ? "" : " ", series.name));
      const std::string unit = Quoted(series.unit);
      for (size_t i = 0; i < series.values.size(); ++i) {
        if (!series.values[i]) continue;
        Add(format(R"({{"ph":"C","name":{},"pid":{},"tid":{},"ts":{},"args":{{{}:{:.6g}}}}})", name,
                   kMachine, kMachine, Micro(timeline.begin[i] - begin_), unit, *series.values[i]));
      }
    }
  }

  std::string Finish(const Report& report, uint64_t left_out) {
    return format(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"program\":{},\"job\":{},"
        "\"events_left_out\":\"{}\"}},\"traceEvents\":[\n{}\n]}}\n",
        Quoted("recprobe " + report.recprobe), Quoted(report.job.name), left_out, text_);
  }

 private:
  int64_t End(const TimedEvent& timed) const {
    return timed.event.open ? std::max(end_, timed.event.begin) : timed.event.end;
  }

  void Slice(const TimedEvent& timed, int thread, int64_t end) {
    const Event& event = timed.event;
    std::string args;
    if (event.kind == EventKind::kStep) args = format(R"("step":{})", event.value);
    if (event.value > 0 &&
        (event.kind == EventKind::kCopy || event.kind == EventKind::kCollective)) {
      args = format(R"("bytes":{})", event.value);
    }
    if (event.open) args += format(R"({}"ended":"no")", args.empty() ? "" : ",");
    Add(format(
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        Quoted(EventName(timed)), CategoryName(event.kind), timed.process, thread,
        Micro(event.begin - begin_), Micro(end - event.begin), args));
  }

  void Add(const std::string& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }

  const int64_t begin_;
  const int64_t end_;
  int next_track_ = kFirstTrack;
  std::string text_;
};

// Drops open events that are also present with their end.
std::vector<const TimedEvent*> Whole(const std::vector<TimedEvent>& events) {
  const auto key = [](const TimedEvent& timed) {
    return std::make_tuple(timed.process, timed.event.kind, timed.event.lane, timed.event.begin);
  };
  std::set<decltype(key(events.front()))> open;
  for (const TimedEvent& timed : events) {
    if (timed.event.open) open.insert(key(timed));
  }
  if (!open.empty()) {
    for (const TimedEvent& timed : events) {
      if (!timed.event.open) open.erase(key(timed));
    }
  }
  std::vector<const TimedEvent*> whole;
  whole.reserve(events.size());
  for (const TimedEvent& timed : events) {
    if (!timed.event.open || open.erase(key(timed)) > 0) whole.push_back(&timed);
  }
  return whole;
}

std::string ProcessName(const Report& report, int process) {
  return process == report.job.process && !report.job.name.empty() ? report.job.name
                                                                   : format("process {}", process);
}

}  // namespace

std::string ChromeTrace(const Report& report, const std::vector<TimedEvent>& events,
                        uint64_t events_left_out) {
  std::map<Track, std::vector<const TimedEvent*>> tracks;
  int64_t end = report.begin;
  for (const TimedEvent* timed : Whole(events)) {
    tracks[FindTrack(*timed)].push_back(timed);
    end = std::max({end, timed->event.begin, timed->event.end});
  }
  Writer writer(report, end);
  std::set<int> processes;
  for (auto& [track, of_track] : tracks) {
    if (processes.insert(track.process).second) {
      writer.Name("process_name", track.process, track.process, ProcessName(report, track.process));
    }
    std::stable_sort(of_track.begin(), of_track.end(), [](const auto* a, const auto* b) {
      return std::pair(a->event.begin, -a->event.end) < std::pair(b->event.begin, -b->event.end);
    });
    writer.Add(track, of_track);
  }
  writer.Counters(report.timeline);
  return writer.Finish(report, events_left_out);
}

}  // namespace recpack::probe
