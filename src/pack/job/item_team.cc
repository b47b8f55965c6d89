#include "src/pack/job/item_team.h"

#include <algorithm>
#include <utility>

namespace recpack::pack {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{256} << 10;
constexpr size_t kBatchItems = 64;
constexpr uint64_t kBytesAThread = uint64_t{1} << 20;
// A batch is fetched at once, which hides the delay of a store.
constexpr uint64_t kRemoteBatchBytes = uint64_t{16} << 20;

}  // namespace

ItemTeam::ItemTeam(const Source& source, const Plan& plan, const PlannedShard& shard,
                   size_t threads, Write write)
    : source_(source),
      shard_(shard),
      order_(plan, shard.split),
      threads_(threads),
      batch_bytes_(source.items_are_remote() ? kRemoteBatchBytes : kBatchBytes),
      write_(std::move(write)),
      claimed_(shard.begin),
      taken_(shard.begin) {}

bool ItemTeam::HasRoom() const {
  return batches_ < threads_ || bytes_ < threads_ * std::max(batch_bytes_, kBytesAThread);
}

ItemTeam::Batch ItemTeam::SpareBatch() {
  if (spare_.empty()) return {};
  Batch batch = std::move(spare_.back());
  spare_.pop_back();
  return batch;
}

bool ItemTeam::Claim(Batch& batch) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stopped_ || claimed_ == shard_.end || HasRoom(); });
  if (stopped_ || claimed_ == shard_.end) return false;
  batch = SpareBatch();
  batch.begin = claimed_;
  batch.planned_bytes = 0;
  batch.records.Start(shard_.split);
  while (claimed_ < shard_.end && batch.records.size() < kBatchItems &&
         batch.planned_bytes < batch_bytes_) {
    const uint64_t item = order_(claimed_++);
    batch.records.Add(item);
    batch.planned_bytes += source_.ItemBytes(shard_.split, item);
  }
  ++batches_;
  bytes_ += batch.planned_bytes;
  return true;
}

void ItemTeam::Deliver(Batch&& batch) {
  std::unique_lock lock(mutex_);
  bytes_ += batch.records.bytes() - batch.planned_bytes;
  ready_.emplace(batch.begin, std::move(batch));
  if (writing_) return;  // the writing thread continues with this batch
  writing_ = true;
  while (!stopped_ && ready_.contains(taken_)) {
    Batch next = std::move(ready_.extract(taken_).mapped());
    lock.unlock();
    const bool go_on = write_(next.records);
    lock.lock();
    taken_ += next.records.size();
    bytes_ -= next.records.bytes();
    --batches_;
    stopped_ |= !go_on;
    spare_.push_back(std::move(next));
    room_.notify_all();
  }
  writing_ = false;
}

void ItemTeam::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  room_.notify_all();
}

void ItemTeam::Work(ItemReader& reader) {
  try {
    Sample sample;
    for (Batch batch; Claim(batch);) {
      batch.records.Prepare(reader, sample);
      Deliver(std::move(batch));
    }
  } catch (...) {
    Stop();
    throw;
  }
}

}  // namespace recpack::pack
