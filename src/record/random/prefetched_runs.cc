#include "src/record/random/prefetched_runs.h"

#include <algorithm>
#include <utility>

namespace recpack {
namespace {

// Other records read before a prefetched record counts as abandoned.
constexpr uint64_t kPatience = 1024;

}  // namespace

std::span<const WantedRecord> FirstRun(std::span<const WantedRecord> wanted, uint64_t max_bytes) {
  const RecordLocation& first = wanted.front().location;
  size_t end = 1;
  for (; end < wanted.size(); ++end) {
    const RecordLocation& next = wanted[end].location;
    if (next.shard != first.shard || next.offset != FrameEnd(wanted[end - 1].location)) break;
    if (FrameEnd(next) - first.offset > max_bytes) break;
  }
  return wanted.first(end);
}

std::vector<WantedRecord> PrefetchedRuns::Missing(std::span<const uint64_t> ids,
                                                  const Index& index) const {
  std::vector<WantedRecord> wanted;
  wanted.reserve(ids.size());
  for (const uint64_t id : ids) {
    if (id < index.record_count() && !Has(id)) wanted.push_back({id, {}});
  }
  std::ranges::sort(wanted, {}, &WantedRecord::id);
  const auto same = [](const WantedRecord& a, const WantedRecord& b) { return a.id == b.id; };
  wanted.erase(std::unique(wanted.begin(), wanted.end(), same), wanted.end());
  for (WantedRecord& item : wanted) item.location = index.Locate(item.id);
  return wanted;
}

void PrefetchedRuns::Add(std::span<const WantedRecord> run, std::shared_ptr<Fetch> fetch) {
  const size_t bytes = fetch->size;
  const auto entry = std::make_shared<Run>();
  entry->fetch = std::move(fetch);
  entry->untaken = run.size();
  entry->begun_at = takes_;
  for (const WantedRecord& item : run) {
    begun_.emplace(item.id, entry);
    entry->ids.push_back(item.id);
  }
  runs_.push_back(entry);
  run_bytes_ += bytes;
}

std::shared_ptr<Fetch> PrefetchedRuns::Take(uint64_t id) {
  ++takes_;
  const auto found = begun_.find(id);
  if (found == begun_.end()) return nullptr;
  Run& run = *found->second;
  std::shared_ptr<Fetch> fetch = run.fetch;
  if (--run.untaken == 0) {
    run_bytes_ -= fetch->size;
    run.fetch.reset();  // the memory is freed with its last record
  }
  begun_.erase(found);
  return fetch;
}

void PrefetchedRuns::Settle() {
  while (!runs_.empty()) {
    const Run& oldest = *runs_.front();
    const bool given_up = takes_ - oldest.begun_at > begun_.size() + kPatience;
    if (oldest.untaken > 0 && !given_up) return;
    if (oldest.untaken > 0) run_bytes_ -= oldest.fetch->size;
    for (const uint64_t id : oldest.ids) {
      const auto found = begun_.find(id);
      if (found != begun_.end() && found->second == runs_.front()) begun_.erase(found);
    }
    runs_.pop_front();
  }
}

}  // namespace recpack
