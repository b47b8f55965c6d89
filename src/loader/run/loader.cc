#include "recpack/loader/loader.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/loader/token.h"
#include "src/base/format.h"
#include "src/loader/batch/batch_maker.h"
#include "src/loader/batch/forks.h"
#include "src/loader/batch/ring.h"
#include "src/loader/experiment/experiment.h"
#include "src/loader/run/consumer_account.h"
#include "src/loader/run/crew.h"
#include "src/loader/run/deliveries.h"
#include "src/loader/run/resolve_options.h"
#include "src/loader/run/stall.h"
#include "src/loader/run/worker.h"

namespace recpack {
namespace {

constexpr std::chrono::milliseconds kPatienceAfterStall = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

struct Loader::State final : LiveBatches {
  State(const Mixture& samples, const LoaderOptions& given, const ResumeToken& token)
      : plan(samples, ResolveOptions(samples, given, token), token),
        at(token),
        deliveries(plan, at) {
    const LoaderOptions& options = plan.options;
    const auto worker_count = static_cast<uint32_t>(options.threads);
    page = std::make_shared<StatsPage>(StatsPage::Sizes{.workers = worker_count,
                                                        .slots = options.prefetch,
                                                        .batch_size = options.batch_size,
                                                        .batch_bytes = plan.slab_bytes});
    account.emplace(page->blocks());
    ring = std::make_shared<Ring>(
        options.prefetch, plan.slab_bytes, options.batch_size, plan.chunks, *options.slabs,
        options.max_live_batches == 0 ? Ring::Memory::kOfSlot : Ring::Memory::kLastUsed, page);
    experiment.emplace(options, page->blocks(), ring,
                       Playback::Layout{.arrays = plan.arrays,
                                        .slab_bytes = plan.slab_bytes,
                                        .samples = options.batch_size,
                                        .chunks = plan.chunks});
    for (uint32_t i = 0; i < worker_count; ++i) {
      workers.push_back(std::make_unique<Worker>(plan, *ring, page->blocks().worker(i),
                                                 i > 0 ? workers.front().get() : nullptr));
    }
  }

  // `own`: shared pointer to this, held by each thread.
  static void Start(const std::shared_ptr<State>& own) {
    for (const auto& worker : own->workers) {
      own->crew.Start(own, [run = worker.get()] { run->Run(); });
    }
  }

  void Stop() {
    page->Unpublish();
    if (mark.inherited()) return crew.Forget();
    ring->Stop();
    const auto timeout = plan.options.stall_timeout;
    crew.End(stalled ? std::min(timeout, kPatienceAfterStall) : timeout);
  }

  void Check() const override {
    if (failure) std::rethrow_exception(failure);
    if (mark.inherited()) {
      Refuse("the loader was made before this process was forked, its threads are the parent's",
             "make the loader in the process that uses it");
    }
  }

  std::optional<Batch> Take() override {
    const BatchPlan batch = plan.schedule.Plan(next);
    if (batch.epoch > plan.options.epoch + epochs_ended) {
      EndEpoch();
      return std::nullopt;
    }
    RefuseAfterTheEnd();
    const uint64_t number = next;
    const uint64_t ready = account->Ready();
    Wait(number);
    RingSlot& slot = ring->slot(number);
    const BatchFacts facts = Facts(batch);
    try {
      if (slot.failure) std::rethrow_exception(slot.failure);
      deliveries.BeginEpoch(batch.epoch);
      deliveries.Charge(workers, number);
      deliveries.Count(slot, batch.samples);
      experiment->BeforeGiving(number, facts);
    } catch (...) {
      failure = std::current_exception();
      throw;
    }
    ++next;
    at.position = batch.next;
    account->Give(batch.samples, ready);

    Batch given =
        BatchMaker(plan.arrays).Make(facts, TokenText(at), *slot.memory, ring->Give(number));
    BatchMaker::SetLive(given);
    return given;
  }

  void RefuseAfterTheEnd() const {
    if (next < plan.schedule.steps()) return;
    Refuse(format("all {} epochs of the loader are over", plan.options.epochs),
           "raise `epochs`, or leave it out if the number is not known");
  }

  void EndEpoch() {
    ++epochs_ended;
    at.epoch = plan.options.epoch + epochs_ended;
    at.position = 0;
    at.substituted = 0;
    account->EndEpoch();
  }

  uint64_t WaitForNext() override {
    RefuseAfterTheEnd();
    Wait(next);
    return next;
  }

  BatchFacts DescribeBatch(uint64_t number) const override {
    return Facts(plan.schedule.Plan(number));
  }

  static BatchFacts Facts(const BatchPlan& batch) {
    return {.epoch = batch.epoch, .number = batch.step, .size = batch.samples};
  }

  const ResumeToken& position() const noexcept override { return at; }

  void Wait(uint64_t batch) {
    const InputWaitSpan span;
    MakeRoom(batch);
    if (ring->Ready(batch)) return;
    const auto waiting = account->Wait();
    if (WaitLooking(batch)) return;
    if (ring->waits_no_more()) {
      Refuse("the loader was told to stop waiting", "do not ask it for more batches");
    }
    stalled = true;
    ThrowStall(workers, Snapshot(page->blocks(), MonotonicNow()), plan.options.stall_timeout);
  }

  // Batches that are still held leave the ring; those before the last two already did. The last one
  // stays if it is the only one held, so that a plain loop needs no more memory.
  void MakeRoom(uint64_t batch) {
    const uint32_t most = plan.options.max_live_batches, held = ring->held();
    if (most == 0) {
      if (!ring->HeldFor(batch)) return;
      Refuse(
          format("the consumer holds {} of the loader's {} batches, and among them the one whose "
                 "memory comes next",
                 held, ring->size()),
          "release batches in the order in which they came, raise `prefetch`, or have those "
          "that are held replaced: `max_live_batches`");
    }
    if (held >= most) {
      Refuse(format("the consumer holds {} batches, all that `max_live_batches` allows", held),
             "release one before the next, copy what is to stay, or raise `max_live_batches`");
    }
    if (batch >= 2) ring->Replace(batch - 2);
    if (batch >= 2 && held >= 2) ring->Replace(batch - 1);
  }

  // Returns true if the batch came within the timeout and before WaitNoMore().
  bool WaitLooking(uint64_t batch) {
    const auto& look = plan.options.while_waiting;
    if (!look) return ring->WaitUntilReady(batch, plan.options.stall_timeout);
    std::chrono::milliseconds left = plan.options.stall_timeout;
    while (left > kBetweenLooks) {
      if (ring->WaitUntilReady(batch, kBetweenLooks)) return true;
      if (ring->waits_no_more()) return false;
      look();
      left -= kBetweenLooks;
    }
    return ring->WaitUntilReady(batch, left);
  }

  LoaderPlan plan;
  ResumeToken at;  // position after the last batch given
  Deliveries deliveries;
  std::shared_ptr<StatsPage> page;
  std::optional<ConsumerAccount> account;
  std::shared_ptr<Ring> ring;
  std::optional<Experiment> experiment;  // between Take() and the consumer
  std::vector<std::unique_ptr<Worker>> workers;
  uint64_t next = 0;           // number of the next batch
  uint64_t epochs_ended = 0;   // in this run
  std::exception_ptr failure;  // rethrown by every later call
  ForkMark mark;
  bool stalled = false;
  Crew crew;
};

Loader::Loader(const Mixture& samples, LoaderOptions options) {
  const ResumeToken token = StartToken(samples, options);
  state_ = std::make_shared<State>(samples, options, token);
  try {
    State::Start(state_);
  } catch (...) {
    state_->Stop();
    throw;
  }
}

Loader::~Loader() { state_->Stop(); }

void Loader::WaitNoMore() noexcept { state_->ring->WaitNoMore(); }

LoaderMode Loader::NextMode() { return state_->experiment->NextMode(); }

bool Loader::in_gain_run() const noexcept { return state_->experiment->in_gain_run(); }

void Loader::CountSteps(uint32_t batches) noexcept { state_->experiment->CountSteps(batches); }

std::optional<Batch> Loader::Next() { return state_->experiment->Next(*state_); }

LoaderStats Loader::stats() const { return Snapshot(state_->page->blocks(), MonotonicNow()); }

CacheStats Loader::cache_stats() const noexcept {
  CacheStats stats;
  if (const auto& cache = state_->plan.cache) stats = cache->stats();
  for (const auto& worker : state_->workers) worker->cache_counts().AddTo(stats);
  return stats;
}

std::string Loader::Token() const { return TokenText(state_->at); }

const EpochAudit& Loader::audit() const noexcept { return state_->deliveries.audit(); }

const std::vector<Substitution>& Loader::substitutions() const noexcept {
  return state_->deliveries.substitutions();
}

const std::vector<ArraySpec>& Loader::arrays() const noexcept { return *state_->plan.arrays; }

const Mixture& Loader::samples() const noexcept { return state_->plan.mixture; }

uint64_t Loader::steps_per_epoch() const noexcept {
  return state_->plan.schedule.steps_of_others();
}

const LoaderOptions& Loader::options() const noexcept { return state_->plan.options; }

}  // namespace recpack
