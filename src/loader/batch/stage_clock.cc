#include "src/loader/batch/stage_clock.h"

#include <sys/resource.h>

#include <numeric>

namespace recpack {
namespace {

constexpr uint64_t kDearSample = 50'000;      // ns: slower samples are all timed
constexpr uint32_t kPeriod = 17;              // coprime to chunk sizes
constexpr uint64_t kShortRead = 20'000;       // ns: shorter reads are not examined
constexpr uint64_t kRemembered = 10'000'000;  // ns of timed samples

constexpr size_t At(Stage stage) { return static_cast<size_t>(stage); }

}  // namespace

uint64_t VoluntarySwitches() noexcept {
  rusage usage;
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<uint64_t>(usage.ru_nvcsw) : 0;
}

StageClock::StageClock(WorkerBlock& block, Sources sources)
    : block_(block), sources_(sources), published_(block.since) {}

void StageClock::BeginChunk() noexcept {
  const uint64_t now = sources_.now();
  times_[At(Stage::kRoom)] += now - published_;
  ++counts_[At(Stage::kRoom)];
  ++counts_[At(Stage::kPlan)];
  chunk_begun_ = now;
  chunk_first_ = counts_[At(Stage::kRead)];
  SetStage(Stage::kPlan);
  switches_ = sources_.switches();
  Publish(now);
}

void StageClock::BeginSamples() noexcept {
  const uint64_t now = sources_.now();
  times_[At(Stage::kPlan)] += now - published_;
  Publish(now);
}

void StageClock::Time() noexcept {
  until_timed_ = period_;
  timed_ = true;
  mark_ = sources_.now();
  SetStage(Stage::kPlan);  // nothing published yet
}

// Ends the current stage. A long read in which the thread slept counts as waiting for input.
void StageClock::Close() noexcept {
  const uint64_t now = sources_.now();
  Stage stage = stage_;
  if (stage == Stage::kRead && now - mark_ > kShortRead) {
    const uint64_t switches = sources_.switches();
    if (switches != switches_) {
      stage = Stage::kInput;
      counts_[At(Stage::kInput)] += period_;
      switches_ = switches;
    }
  }
  sample_[At(stage)] += now - mark_;
  mark_ = now;
}

void StageClock::EndTimed() noexcept {
  Close();
  timed_ = false;
  for (size_t i = 0; i < kStages; ++i) recent_[i] += sample_[i];
  if (period_ == 1) {
    for (size_t i = 0; i < kStages; ++i) times_[i] += sample_[i];
    // The time between the samples.
    const uint64_t own = std::accumulate(sample_.begin(), sample_.end(), uint64_t{0});
    times_[At(Stage::kPlan)] += mark_ - published_ - own;
    Publish(mark_);
  }
  sample_ = {};
}

void StageClock::ShareOut(uint64_t span) noexcept {
  uint64_t sum = std::accumulate(recent_.begin(), recent_.end(), uint64_t{0});
  uint64_t left = span;
  for (size_t i = 0; i + 1 < kStages && sum > 0; ++i) {
    const auto share = static_cast<uint64_t>(
        static_cast<double>(span) * static_cast<double>(recent_[i]) / static_cast<double>(sum));
    const uint64_t given = share < left ? share : left;
    times_[i] += given;
    left -= given;
  }
  times_.back() += left;
  if (sum > kRemembered) {
    for (uint64_t& time : recent_) time /= 2;
  }
}

void StageClock::EndChunk() noexcept {
  const uint64_t now = sources_.now();
  const uint64_t samples = counts_[At(Stage::kRead)] - chunk_first_;
  if (period_ == 1) {
    times_[At(Stage::kPlan)] += now - published_;
  } else {
    ShareOut(now - published_);
  }
  timed_ = false;
  sample_ = {};
  SetStage(Stage::kRoom);
  Publish(now);
  if (samples == 0) return;
  const uint32_t period = (now - chunk_begun_) / samples >= kDearSample ? 1 : kPeriod;
  if (period != period_) until_timed_ = period;
  period_ = period;
}

void StageClock::EndBatch() noexcept {
  const uint64_t now = sources_.now();
  times_[At(Stage::kBatch)] += now - published_;
  ++counts_[At(Stage::kBatch)];
  SetStage(Stage::kRoom);
  Publish(now);
}

void StageClock::Publish(uint64_t now) noexcept {
  published_ = now;
  const PageWrite write(block_.sequence);
  PageWrite::Set(block_.since, now);
  for (size_t i = 0; i < kStages; ++i) {
    PageWrite::Set(block_.stages[i].count, counts_[i]);
    PageWrite::Set(block_.stages[i].bytes, bytes_[i]);
    PageWrite::Set(block_.stages[i].time, times_[i]);
  }
  PageWrite::Set(block_.pixels, pictures_.pixels);
  PageWrite::Set(block_.pixels_made, pictures_.made);
  PageWrite::Set(block_.coded_bytes, pictures_.coded_bytes);
}

}  // namespace recpack
