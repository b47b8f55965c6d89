#include "src/loader/run/worker.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/batch/ragged_rows.h"
#include "src/loader/data/record_place.h"
#include "src/loader/data/streams.h"
#include "src/loader/run/batch_steps.h"
#include "src/loader/run/loader_cache.h"
#include "src/remote/http/traffic.h"

namespace recpack {
namespace {

// Samples to prefetch before they are read.
constexpr uint32_t kTouchedAhead = 2;
constexpr int kSubstituteTries = 8;

}  // namespace

Worker::Worker(LoaderPlan& plan, Ring& ring, WorkerBlock& block, const Worker* other)
    : plan_(plan),
      ring_(ring),
      block_(block),
      clock_(block),
      sampler_(plan.mixture, plan.options.order, plan.options.seed),
      sources_(OpenSources(other)),
      advisor_(plan, sampler_, sources_) {
  tools_.clock = &clock_;
  if (plan.options.cache.what == CacheKind::kPictures) tools_.kept.Use(*plan.cache, cache_counts_);
}

std::vector<std::unique_ptr<SampleSource>> Worker::OpenSources(const Worker* other) {
  std::vector<std::unique_ptr<SampleSource>> sources;
  for (const View& view : plan_.mixture.views()) {
    const size_t number = sources.size();
    auto source = other != nullptr ? other->sources_[number]->ForAnotherThread()
                                   : view.dataset().NewSource(plan_.options.source);
    if (plan_.options.cache.what == CacheKind::kRecords) {
      source = MakeCachedSource(std::move(source), static_cast<uint32_t>(number), *plan_.cache,
                                cache_counts_);
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

void Worker::Run() {
  const remote::CountTraffic counts(block_.store);
  for (;;) {
    const uint64_t ticket = plan_.next_chunk.fetch_add(1, std::memory_order_relaxed);
    const uint64_t batch = ticket / plan_.chunks;
    if (batch >= plan_.schedule.steps()) return;
    Ring::Turn turn;
    while ((turn = ring_.WaitForRoom(batch)) == Ring::Turn::kExtra) ThrowChunkAway(ticket);
    if (turn == Ring::Turn::kStop) return advisor_.GiveUp(ticket);
    clock_.BeginChunk();
    try {
      advisor_.Advise(ticket);
      clock_.BeginSamples();
      FillChunk(batch, static_cast<uint32_t>(ticket % plan_.chunks));
    } catch (...) {
      advisor_.GiveUp(ticket);
      ring_.Fail(batch, 0, std::current_exception());
    }
    clock_.EndChunk();
    if (!ring_.FinishChunk(batch)) continue;
    FinishBatch(batch);
    ring_.Publish(batch);
  }
}

// Packs ragged arrays and runs the batch steps, unless a sample failed or was never written.
void Worker::FinishBatch(uint64_t batch) {
  RingSlot& slot = ring_.slot(batch);
  if (slot.failure || ring_.stopped()) return;
  const BatchPlan at = plan_.schedule.Plan(batch);
  if (plan_.has_ragged) PackRagged(*plan_.arrays, at.samples, slot.memory->bytes());
  if (plan_.batch_workers.empty()) return;
  clock_.BeginBatch();
  try {
    RunBatchSteps(plan_, at, *slot.memory);
  } catch (...) {
    ring_.Fail(batch, plan_.schedule.Position(at, 0), std::current_exception());
  }
  clock_.EndBatch();
}

void Worker::FillChunk(uint64_t batch, uint32_t chunk) {
  const BatchPlan at = plan_.schedule.Plan(batch);
  const uint32_t begin = chunk * plan_.chunk_samples;
  const uint32_t end = std::min(begin + plan_.chunk_samples, at.samples);
  epoch_ = at.epoch;
  epoch_seed_ = EpochSeed(plan_.options.seed, at.epoch);
  RingSlot& slot = ring_.slot(batch);
  BatchMemory& memory = *slot.memory;
  for (uint32_t i = begin; i < end; ++i) {
    const uint64_t position = plan_.schedule.Position(at, i);
    const SampledRecord record = sampler_.At(at.epoch, position);
    memory.ids[i] = record.id;
    memory.views[i] = record.view;
    memory.mask[i] = position < plan_.mixture.samples();
  }
  for (uint32_t i = begin; i < std::min(begin + kTouchedAhead, end); ++i) {
    sources_[memory.views[i]]->Touch(memory.ids[i]);
  }
  for (uint32_t i = begin; i < end && !ring_.stopped(); ++i) {
    if (const uint32_t next = i + kTouchedAhead; next < end) {
      sources_[memory.views[next]]->Touch(memory.ids[next]);
    }
    try {
      FillSample(batch, at, i);
    } catch (...) {
      ring_.Fail(batch, plan_.schedule.Position(at, i), std::current_exception());
      return;
    }
  }
  Audit(slot, begin, end);
}

// Done here rather than by the consumer, whose time belongs to the trainer.
void Worker::Audit(RingSlot& slot, uint32_t begin, uint32_t end) {
  const BatchMemory& memory = *slot.memory;
  uint64_t samples = 0;
  Sum128 sum;
  for (uint32_t i = begin; i < end; ++i) {
    if (memory.mask[i] == 0) continue;
    ++samples;
    sum += AuditHash(memory.views[i], memory.ids[i]);
  }
  const std::lock_guard lock(slot.mutex);
  slot.delivered += samples;
  slot.delivered_sum += sum;
}

void Worker::FillSample(uint64_t batch, const BatchPlan& at, uint32_t sample) {
  const uint64_t position = plan_.schedule.Position(at, sample);
  BatchMemory& memory = *ring_.slot(batch).memory;
  const SampledRecord meant{.view = memory.views[sample], .id = memory.ids[sample]};
  out_.clear();
  for (const ArraySpec& array : *plan_.arrays) {
    out_.push_back(memory.bytes() + array.offset + sample * array.sample_bytes);
  }
  std::string reason;
  try {
    return Write(meant, position);
  } catch (const Error& error) {
    if (plan_.options.on_bad_record == OnBadRecord::kFail || error.kind() != ErrorKind::kCorrupt) {
      throw;
    }
    reason = error.reason();
  }

  KeyedRandom random(epoch_seed_, static_cast<uint32_t>(RandomStream::kSubstitute), position);
  for (int i = 0; i < kSubstituteTries; ++i) {
    const SampledRecord other = sampler_.Substitute(at.epoch, position, random.NextU64());
    try {
      Write(other, position);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      continue;
    }
    memory.ids[sample] = other.id;
    if (memory.mask[sample] == 0) return;  // reported where it is not padding
    substitutions_.Add(batch, {at.epoch, position, meant.view, meant.id, other.id, FindPlace(meant),
                               std::move(reason)});
    return;
  }
  throw Error(ErrorKind::kCorrupt,
              format("{} substitutes for a bad record are bad as well; it was: {}",
                     kSubstituteTries, reason),
              FindPlace(meant),
              "recpack verify lists all damage, recpack repair recovers the intact records");
}

// For experiments: does the work of a chunk half an epoch ahead, so that the next samples are not
// brought into the page cache by it. Failures are ignored.
void Worker::ThrowChunkAway(uint64_t ticket) {
  const uint64_t ahead = ticket + plan_.schedule.steps_of_others() / 2 * plan_.chunks +
                         plan_.thrown.fetch_add(1, std::memory_order_relaxed);
  const BatchPlan at = plan_.schedule.Plan(ahead / plan_.chunks);
  const auto begin = static_cast<uint32_t>(ahead % plan_.chunks) * plan_.chunk_samples;
  const uint32_t end = std::min(begin + plan_.chunk_samples, at.samples);
  clock_.BeginChunk();
  clock_.BeginSamples();
  epoch_ = at.epoch;
  epoch_seed_ = EpochSeed(plan_.options.seed, at.epoch);
  thrown_.resize(plan_.thrown_bytes);
  for (uint32_t i = begin; i < end && !ring_.stopped(); ++i) {
    try {
      out_.clear();
      size_t offset = 0;
      for (const ArraySpec& array : *plan_.arrays) {
        out_.push_back(thrown_.data() + offset);
        offset += AlignedArray(array.sample_bytes);
      }
      const uint64_t position = plan_.schedule.Position(at, i);
      Write(sampler_.At(at.epoch, position), position);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }
  clock_.EndChunk();
  ring_.CountThrown();
}

void Worker::Write(const SampledRecord& record, uint64_t position) {
  clock_.BeginSample(record.view, record.id);
  const ByteView payload = sources_[record.view]->Read(record.id, record_);
  try {
    clock_.AddBytes(Stage::kRead, payload.size());
    clock_.Enter(Stage::kParse, payload.size());
    example_.Parse(payload);
    plan_.mixture.views()[record.view].dataset().MapFeatures(example_);
    clock_.Enter(Stage::kWrite, plan_.sample_bytes);
    tools_.decoded_from = nullptr;
    tools_.kept.Begin(record.view, record.id, payload);
    const SampleRecord at{example_, record.id, epoch_, epoch_seed_, position};
    plan_.writers[plan_.writers.size() > 1 ? record.view : 0].Write(at, tools_, out_);
    clock_.EndSample();
  } catch (...) {
    RethrowWithPlace(plan_.mixture.views()[record.view].dataset(), record.id);
  }
}

Place Worker::FindPlace(const SampledRecord& record) const {
  return plan_.mixture.views()[record.view].dataset().FindPlace(record.id);
}

// View and record may belong to different samples if the worker goes on meanwhile.
Place Worker::PlaceNow() const {
  const SampledRecord at{static_cast<uint32_t>(block_.view.load(std::memory_order_relaxed)),
                         block_.record.load(std::memory_order_relaxed)};
  const Dataset& dataset = plan_.mixture.views()[at.view].dataset();
  return at.id < dataset.records() ? FindPlace(at) : Place{.path = dataset.path()};
}

}  // namespace recpack
