#include "src/probe/events/trace_events.h"

#include <algorithm>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>

namespace recpack::probe {

void TraceEvents::Add(const TimedEvent& event) {
  if (kept_.size() >= most_) Spill();
  Kept& kept = kept_.emplace_back();
  kept.event = event.event;
  kept.named = event.event.name;
  kept.event.name = NameNumber(event.name);
  kept.process = event.process;
  ++size_;
  first_ = std::min(first_, event.event.begin);
  last_ = std::max({last_, event.event.begin, event.event.end});
}

uint32_t TraceEvents::NameNumber(const std::string& name) {
  const auto [found, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(&found->first);  // stays in place as others are added
  return found->second;
}

void TraceEvents::SortKept() {
  std::ranges::stable_sort(kept_, {}, [](const Kept& kept) { return kept.event.begin; });
}

void TraceEvents::Spill() {
  static_assert(std::is_trivially_copyable_v<Kept>);
  SortKept();
  if (!spool_) spool_ = std::make_unique<SpoolFile>("");  // $TMPDIR or /tmp
  const auto bytes = std::as_bytes(std::span(kept_));
  spool_->Append({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  run_ends_.push_back(spool_->Size());
  kept_.clear();
}

TimedEvent TraceEvents::ToTimedEvent(const Kept& kept) const {
  TimedEvent timed{.event = kept.event, .process = kept.process, .name = *names_[kept.event.name]};
  timed.event.name = kept.named;
  const bool on_device = timed.event.device != Event::kNoDevice;
  if (on_device && device_process_ >= 0) timed.process = device_process_;
  return timed;
}

// A sorted part of the events: in the file, or in memory.
class TraceEvents::Run {
 public:
  // `most`: number of events that are read at once.
  Run(const SpoolFile& file, uint64_t begin, uint64_t end, size_t most)
      : file_(&file), at_(begin), end_(end), most_(most) {}
  explicit Run(std::vector<Kept>& events) : read_(std::move(events)) {}

  // Returns the next event; null after the last one. It is valid until the next call.
  const Kept* Next() {
    if (next_ == read_.size() && !Read()) return nullptr;
    return &read_[next_++];
  }

 private:
  bool Read() {
    if (at_ == end_) return false;
    read_.resize(std::min<uint64_t>(most_, (end_ - at_) / sizeof(Kept)));
    const auto bytes = std::as_writable_bytes(std::span(read_));
    file_->ReadAt(at_, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
    at_ += bytes.size();
    next_ = 0;
    return true;
  }

  const SpoolFile* file_ = nullptr;
  uint64_t at_ = 0, end_ = 0;  // bytes
  size_t most_ = 0;
  std::vector<Kept> read_;
  size_t next_ = 0;
};

// Orders a queue of runs, each with its next event and its number, so that the earlier one comes
// first.
struct TraceEvents::LaterBegin {
  using Next = std::pair<const Kept*, size_t>;
  bool operator()(const Next& a, const Next& b) const {
    return std::pair(a.first->event.begin, a.second) > std::pair(b.first->event.begin, b.second);
  }
};

void TraceEvents::ForBatches(const std::function<void(std::vector<TimedEvent>& batch)>& take) {
  SortKept();
  std::vector<Run> runs;
  uint64_t begin = 0;
  const size_t at_once = std::clamp<size_t>(most_ / (run_ends_.size() + 1), 1, kBatch);
  for (const uint64_t end : run_ends_) {
    runs.emplace_back(*spool_, begin, end, at_once);
    begin = end;
  }
  runs.emplace_back(kept_);
  std::priority_queue<LaterBegin::Next, std::vector<LaterBegin::Next>, LaterBegin> next;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (const Kept* first = runs[i].Next()) next.emplace(first, i);
  }
  std::vector<TimedEvent> batch;
  while (!next.empty()) {
    const auto [kept, run] = next.top();
    next.pop();
    batch.push_back(ToTimedEvent(*kept));
    if (const Kept* following = runs[run].Next()) next.emplace(following, run);
    if (batch.size() < kBatch && !next.empty()) continue;
    take(batch);
    batch.clear();
  }
}

}  // namespace recpack::probe
