#include "src/pipeline/worker.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pipeline/streams.h"

namespace recpack {
namespace {

// Records that are asked for ahead of their use.
constexpr uint32_t kAdvisedSamples = 512;
constexpr int kSubstituteTries = 8;

}  // namespace

Worker::Worker(LoaderPlan& plan, Ring& ring)
    : plan_(plan), ring_(ring), source_(plan.dataset.NewSource(plan.options.source)) {}

void Worker::Run() {
  for (;;) {
    const uint64_t ticket = plan_.next_chunk.fetch_add(1, std::memory_order_relaxed);
    const uint64_t batch = ticket / plan_.chunks;
    stage_ = Stage::kIdle;
    if (!ring_.WaitForRoom(batch)) return;
    try {
      Advise(ticket);
      FillChunk(batch, static_cast<uint32_t>(ticket % plan_.chunks));
    } catch (...) {
      ring_.Fail(batch, 0, std::current_exception());
    }
    ring_.FinishChunk(batch);
  }
}

Order& Worker::OrderOf(uint64_t epoch) {
  if (!order_ || order_epoch_ != epoch) {
    order_.emplace(plan_.options.order, plan_.options.seed, epoch, plan_.dataset.records());
    order_epoch_ = epoch;
    epoch_seed_ = EpochSeed(plan_.options.seed, epoch);
  }
  return *order_;
}

// Positions beyond the end repeat the epoch's first samples.
uint64_t Worker::IdAt(uint64_t epoch, uint64_t position) {
  Order& order = OrderOf(epoch);
  return order(position % order.records());
}

// The kernel learns of the records of a chunk well before any worker comes to it.
void Worker::Advise(uint64_t ticket) {
  const uint64_t ahead = ticket + (kAdvisedSamples + plan_.chunk_samples - 1) / plan_.chunk_samples;
  const auto advise = [&](uint64_t chunk) {
    const BatchPlan at = plan_.schedule.Plan(chunk / plan_.chunks);
    const auto begin = static_cast<uint32_t>(chunk % plan_.chunks) * plan_.chunk_samples;
    const uint32_t end = std::min(begin + plan_.chunk_samples, at.samples);
    for (uint32_t i = begin; i < end; ++i) {
      ids_.push_back(IdAt(at.epoch, plan_.schedule.Position(at, i)));
    }
  };
  ids_.clear();
  if (ticket == 0) {
    for (uint64_t chunk = 0; chunk < ahead; ++chunk) advise(chunk);
  }
  advise(ahead);
  source_->Advise(ids_);
}

void Worker::FillChunk(uint64_t batch, uint32_t chunk) {
  const BatchPlan at = plan_.schedule.Plan(batch);
  const uint32_t begin = chunk * plan_.chunk_samples;
  const uint32_t end = std::min(begin + plan_.chunk_samples, at.samples);
  for (uint32_t i = begin; i < end && !ring_.stopped(); ++i) {
    try {
      FillSample(batch, at, i);
    } catch (...) {
      ring_.Fail(batch, plan_.schedule.Position(at, i), std::current_exception());
      return;
    }
  }
}

void Worker::FillSample(uint64_t batch, const BatchPlan& at, uint32_t sample) {
  const uint64_t position = plan_.schedule.Position(at, sample);
  const uint64_t id = IdAt(at.epoch, position);
  RingSlot& slot = ring_.slot(batch);
  slot.ids[sample] = id;
  slot.mask[sample] = position < plan_.dataset.records();
  std::string reason;
  try {
    return Write(id, position, batch, sample);
  } catch (const Error& error) {
    if (plan_.options.on_bad_record == OnBadRecord::kFail || error.kind() != ErrorKind::kCorrupt) {
      throw;
    }
    reason = error.what();
  }

  KeyedRandom random(epoch_seed_, static_cast<uint32_t>(RandomStream::kSubstitute), position);
  for (int i = 0; i < kSubstituteTries; ++i) {
    const uint64_t other = IdAt(at.epoch, random.NextU64() % plan_.dataset.records());
    try {
      Write(other, position, batch, sample);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      continue;
    }
    slot.ids[sample] = other;
    const std::lock_guard lock(substitutions_mutex_);
    substitutions_.push_back({batch, {at.epoch, position, id, other, reason}});
    return;
  }
  throw Error(ErrorKind::kCorrupt,
              format("{} substitutes for a bad record are bad as well; it was: {}",
                     kSubstituteTries, reason),
              {}, "recpack verify lists all damage, recpack repair saves what is whole");
}

void Worker::Write(uint64_t id, uint64_t position, uint64_t batch, uint32_t sample) {
  at_record_.store(id, std::memory_order_relaxed);
  stage_.store(Stage::kRead, std::memory_order_relaxed);
  const ByteView payload = source_->Read(id, record_);
  try {
    stage_.store(Stage::kParse, std::memory_order_relaxed);
    example_.Parse(payload);
    stage_.store(Stage::kWrite, std::memory_order_relaxed);
    uint8_t* const slab = ring_.slot(batch).bytes();
    out_.clear();
    for (const ArraySpec& array : *plan_.arrays) {
      out_.push_back(slab + array.offset + sample * array.sample_bytes);
    }
    const Sample at{example_, id, epoch_seed_, position};
    for (size_t i = 0; i < plan_.writers.size(); ++i) {
      plan_.writers[i]->Write(at, tools_, std::span(out_).subspan(plan_.first_array[i]));
    }
  } catch (const Error& error) {
    if (!error.place().path.empty()) throw;
    throw Error(error.kind(), error.reason(), plan_.dataset.PlaceOf(id), error.advice());
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kInvalidArgument, error.what(), plan_.dataset.PlaceOf(id));
  }
}

std::string Worker::Activity() const {
  const Stage stage = stage_;
  if (stage == Stage::kIdle) return "waits for room in the ring";
  constexpr const char* kDoing[] = {"", "reads", "parses", "decodes or writes"};
  const Place place = plan_.dataset.PlaceOf(at_record_);
  return format("{} record {} of {}", kDoing[static_cast<size_t>(stage)], *place.ordinal,
                place.path);
}

std::vector<Substitution> Worker::TakeSubstitutions(uint64_t batch) {
  const std::lock_guard lock(substitutions_mutex_);
  std::vector<Substitution> taken;
  std::erase_if(substitutions_, [&](const BatchSubstitution& each) {
    if (each.batch == batch) taken.push_back(each.what);
    return each.batch == batch;
  });
  return taken;
}

}  // namespace recpack
