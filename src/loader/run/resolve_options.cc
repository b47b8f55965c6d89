#include "src/loader/run/resolve_options.h"

#include <algorithm>

#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/order/sampler.h"

namespace recpack {
namespace {

// Keeps deadlines within the range of clocks.
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24 * 365);
// Records below this size are copied from mappings: cheaper than a system call each.
constexpr uint64_t kSmallRecordBytes = 16 << 10;

void RefuseFields(const LoaderOptions& options, size_t views) {
  if (options.view_fields.empty()) {
    if (options.fields.empty()) Refuse("the loader has no fields", "name a recipe");
    return;
  }
  if (!options.fields.empty()) {
    Refuse("the loader has both fields and view_fields", "leave one of them out");
  }
  if (options.view_fields.size() != views) {
    Refuse(format("there are fields for {} views, and {} in the mixture",
                  options.view_fields.size(), views),
           "give a list for each view");
  }
  for (const auto& fields : options.view_fields) {
    if (fields.empty()) Refuse("a view has no fields", "name a recipe for each view");
  }
}

}  // namespace

ResumeToken StartToken(const Mixture& samples, const LoaderOptions& options) {
  const OrderSpec order = ResolveOrder(options.order, samples);
  if (options.resume.empty()) {
    return {samples.digest(), order, options.seed, options.epoch, 0, 0};
  }
  ResumeToken token = ParseToken(options.resume);
  if (const auto difference = samples.DifferenceFrom(token.digest); !difference.empty()) {
    Refuse("the token belongs to another data set: " + difference,
           "open the one that it was made with, or begin without a token");
  }
  if (options.order.kind != OrderKind::kAuto && order != token.order) {
    Refuse(format("the token's order is {}, but {} was requested", OrderText(token.order),
                  OrderText(order)),
           "leave out the order: the token sets it");
  }
  if (token.position > samples.samples()) {
    Refuse("the token's position is beyond the end of the epoch", "begin without a token");
  }
  return token;
}

LoaderOptions ResolveOptions(const Mixture& samples, LoaderOptions options,
                             const ResumeToken& token) {
  if (options.batch_size == 0) Refuse("the batch size is 0", "choose at least 1");
  if (options.world_size == 0 || options.rank >= options.world_size) {
    Refuse(format("there is no rank {} of {}", options.rank, options.world_size),
           "ranks count from 0");
  }
  if (options.local_ranks == 0 || options.local_ranks > options.world_size - options.rank) {
    Refuse(format("rank {} and the {} after it exceed the world size {}", options.rank,
                  options.local_ranks - 1, options.world_size),
           "ranks count from 0");
  }
  if (options.local_ranks > 1 && options.share != RankShare::kBatches) {
    Refuse("a loader for several ranks needs whole batches", "choose RankShare::kBatches");
  }
  RefuseFields(options, samples.views().size());
  if (options.prefetch < 2) Refuse("prefetch is below 2", "choose a prefetch of 2 or more");
  if (options.max_live_batches == 1) {
    Refuse("a consumer holds a batch while it takes the next: max_live_batches of 1 is too low",
           "choose a max_live_batches of 2 or more, or 0");
  }
  if (options.threads < 0) Refuse("threads cannot be negative", "0 uses all processors");
  if (options.threads == 0) options.threads = AvailableThreads();
  if (options.slabs == nullptr) options.slabs = &HostSlabs();
  if (options.source.backend == RandomAccessOptions::Backend::kAutomatic &&
      samples.bytes() / samples.records() < kSmallRecordBytes) {
    options.source.backend = RandomAccessOptions::Backend::kMapped;
  }
  options.stall_timeout = std::min(options.stall_timeout, kLongestTimeout);
  options.order = token.order;
  options.seed = token.seed;
  options.epoch = token.epoch;
  const uint64_t step = uint64_t{options.batch_size} * options.world_size;
  if (options.last_batch == LastBatch::kDrop && step > samples.samples()) {
    Refuse(format("a step of {} samples is more than the {} records of an epoch", step,
                  samples.samples()),
           "make batches smaller, or pad or keep the last one");
  }
  return options;
}

}  // namespace recpack
