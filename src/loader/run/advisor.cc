#include "src/loader/run/advisor.h"

#include <algorithm>

namespace recpack {
namespace {

constexpr uint32_t kProbedSamples = 16;  // one of this many samples is probed
// Chunks skipped without probing while everything is in memory
constexpr uint32_t kMostUnprobed = 7;
// Chunks of data in an object store that are announced before one is read, while the distance grows
constexpr int kAnnouncedAtOnce = 2;

}  // namespace

Advisor::Advisor(LoaderPlan& plan, Sampler& sampler,
                 const std::vector<std::unique_ptr<SampleSource>>& sources)
    : plan_(plan),
      sampler_(sampler),
      sources_(sources),
      read_ahead_(plan.mixture, plan.options.order, plan.options.world_size, plan.options.share),
      ids_(plan.mixture.views().size()) {}

void Advisor::Advise(uint64_t ticket) {
  const uint64_t ahead =
      ticket + (read_ahead_.Samples() + plan_.chunk_samples - 1) / plan_.chunk_samples;
  if (read_ahead_.far()) return AdviseFar(ticket, ahead);
  if (ticket == 0) {
    for (uint64_t chunk = 0; chunk < ahead; ++chunk) AdviseChunk(chunk);
  }
  // If everything is in memory, probing costs more than it gains for small records. Whole windows
  // are announced only once, so none may be skipped.
  if (unprobed_ > 0 && !read_ahead_.windows()) {
    --unprobed_;
    return;
  }
  probes_held_ = AdviseChunk(ahead) ? 0 : std::min(probes_held_ + 1, kMostUnprobed);
  unprobed_ = probes_held_;
}

// Announces chunks up to `last` that none announced; `last` moves with the link. Files are asked
// for as early again: to open them here would take a round trip each.
void Advisor::AdviseFar(uint64_t ticket, uint64_t last) {
  if (ticket == 0) {
    for (uint64_t chunk = 0; chunk <= 2 * last; ++chunk) OpenChunk(chunk);
    AdviseFirstBatch();
    for (uint64_t chunk = 0; chunk <= last; ++chunk) AdviseChunk(chunk);
    BeginOthers(last + 1);
    return;
  }
  plan_.next_advice.wait(0);  // or others would fetch what is announced just now
  uint64_t chunk = plan_.next_advice;
  for (int announced = 0; announced < kAnnouncedAtOnce && chunk <= last;) {
    if (!plan_.next_advice.compare_exchange_weak(chunk, chunk + 1)) continue;
    OpenChunk(chunk + (last - ticket));
    AdviseChunk(chunk);
    ++announced;
    chunk = plan_.next_advice;
  }
}

void Advisor::BeginOthers(uint64_t next_advice) noexcept {
  uint64_t none = 0;
  plan_.next_advice.compare_exchange_strong(none, next_advice);
  plan_.next_advice.notify_all();
}

void Advisor::OpenChunk(uint64_t chunk) {
  ListRecords(chunk, 1);
  for (size_t view = 0; view < ids_.size(); ++view) sources_[view]->WillOpen(ids_[view]);
}

void Advisor::AdviseFirstBatch() {
  const BatchPlan at = plan_.schedule.Plan(0);
  if (plan_.schedule.steps() == 0 || !read_ahead_.first_batch_alone(at.samples)) return;
  for (auto& ids : ids_) ids.clear();
  for (uint32_t i = 0; i < at.samples; ++i) {
    const SampledRecord record = sampler_.At(at.epoch, plan_.schedule.Position(at, i));
    ids_[record.view].push_back(record.id);
  }
  for (size_t view = 0; view < ids_.size(); ++view) sources_[view]->Advise(ids_[view]);
}

// Returns false if everything is in memory.
bool Advisor::AdviseChunk(uint64_t chunk) {
  // Probes a few to decide for all.
  ListRecords(chunk, kProbedSamples);
  if (AllInMemory()) return false;
  ListRecords(chunk, 1);
  for (size_t view = 0; view < ids_.size(); ++view) sources_[view]->Advise(ids_[view]);
  return true;
}

// Lists every `step`-th record that the samples of a chunk announce.
void Advisor::ListRecords(uint64_t chunk, uint32_t step) {
  for (auto& ids : ids_) ids.clear();
  const uint64_t batch = chunk / plan_.chunks;
  if (batch >= plan_.schedule.steps()) return;
  const BatchPlan at = plan_.schedule.Plan(batch);
  const auto begin = static_cast<uint32_t>(chunk % plan_.chunks) * plan_.chunk_samples;
  const uint32_t end = std::min(begin + plan_.chunk_samples, at.samples);
  const uint64_t epoch_begin =
      at.first - at.step * plan_.options.batch_size * plan_.options.world_size;
  uint64_t count = 0;
  for (uint32_t i = begin; i < end; ++i) {
    const PositionRun run = read_ahead_.At(plan_.schedule.Position(at, i), epoch_begin);
    for (uint64_t position = run.first; position < run.end; position += run.step) {
      if (count++ % step != 0) continue;
      const SampledRecord record = sampler_.At(at.epoch, position);
      ids_[record.view].push_back(record.id);
    }
  }
}

bool Advisor::AllInMemory() const {
  bool in_memory = true;
  for (size_t view = 0; view < ids_.size(); ++view) {
    in_memory &= ids_[view].empty() || sources_[view]->InMemory(ids_[view]);
  }
  return in_memory;
}

}  // namespace recpack
