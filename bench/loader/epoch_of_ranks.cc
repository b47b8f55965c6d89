// Simulates an epoch of many ranks: which records, shards and reads each of them gets.
//
//   epoch_of_ranks RECORDS BYTES RANKS BATCH ORDER [MOST]
//
// BYTES: of a record; shards have 100 MB. ORDER: as for `recpack batches --order`. MOST: simulates
// only so many samples of every rank, and of 100 ranks at most; nothing can be missed or doubled
// then. Schedule and order are the loader's own. Prints one JSON object.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/parallel.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/order.h"
#include "src/loader/run/schedule.h"

namespace recpack {
namespace {

constexpr uint64_t kShardBytes = 100'000'000;
constexpr uint64_t kSomeRanks = 100;
constexpr uint64_t kSeed = 7;

struct Job {
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  uint32_t ranks = 1;
  uint32_t batch = 1;
  OrderSpec order;
  std::optional<uint64_t> most;  // samples of a rank

  uint64_t shard_records() const { return std::max<uint64_t>(1, kShardBytes / record_bytes); }
  uint64_t shards() const { return (records + shard_records() - 1) / shard_records(); }
  uint64_t simulated_ranks() const { return most ? std::min<uint64_t>(ranks, kSomeRanks) : ranks; }
};

struct RankResult {
  uint64_t samples = 0;
  uint64_t shards = 0;  // that it opens
  uint64_t reads = 0;   // stretches of records that follow each other in the shards
};

// Set of numbers below a limit.
class Bits {
 public:
  explicit Bits(uint64_t limit) : words_((limit + 63) / 64) {}

  // Returns whether it was in the set.
  bool Add(uint64_t number) {
    uint64_t& word = words_[number / 64];
    const uint64_t bit = uint64_t{1} << (number % 64);
    const bool was = (word & bit) != 0;
    word |= bit;
    return was;
  }
  void Prefetch(uint64_t number) const { __builtin_prefetch(&words_[number / 64], 1); }
  void Remove(uint64_t number) { words_[number / 64] &= ~(uint64_t{1} << (number % 64)); }
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
};

// What one thread has seen.
struct Seen {
  explicit Seen(const Job& job) : records(job.most ? 0 : job.records), shards(job.shards()) {}

  Bits records;
  uint64_t doubled = 0;
  Bits shards;
};

// The windows of all lanes begin together, and a rank announces what it needs of them at once.
uint64_t RowRecords(const OrderSpec& order) {
  if (order.kind != OrderKind::kWindow) return 1;
  return uint64_t{order.lanes} * order.window_blocks * order.block_records;
}

class Rank {
 public:
  Rank(const Job& job, uint32_t rank, Seen& seen)
      : job_(job),
        schedule_(job.records, job.batch, {.all = job.ranks, .first = rank, .count = 1},
                  RankShare::kSamples, LastBatch::kKeep, 0, 0, 1),
        order_(job.order, kSeed, 0, job.records),
        row_(RowRecords(job.order)),
        seen_(seen) {}

  RankResult Run() {
    const uint64_t most = job_.most.value_or(UINT64_MAX);
    for (uint64_t n = 0; n < schedule_.steps() && result_.samples < most; ++n) {
      const BatchPlan plan = schedule_.Plan(n);
      for (uint32_t i = 0; i < plan.samples && result_.samples < most; ++i) {
        Take(schedule_.Position(plan, i));
      }
    }
    EndRow();
    for (; marked_ < counted_; ++marked_) Mark(marked_);
    for (const uint64_t shard : shards_) seen_.shards.Remove(shard);
    result_.shards = shards_.size();
    return result_;
  }

 private:
  void Take(uint64_t position) {
    if (position / row_ != at_row_) EndRow();
    at_row_ = position / row_;
    pending_.push_back(order_(position));
    ++result_.samples;
  }

  void EndRow() {
    std::sort(pending_.begin(), pending_.end());
    uint64_t next = UINT64_MAX;  // after the last read
    for (const uint64_t record : pending_) {
      if (record != next) ++result_.reads;
      next = record + 1;
      if (!job_.most) Count(record);
      const uint64_t shard = record / job_.shard_records();
      if (!seen_.shards.Add(shard)) shards_.push_back(shard);
    }
    pending_.clear();
  }

  // Marks a record when its word, which is far from the last one's, has come from memory.
  void Count(uint64_t record) {
    if (counted_ - marked_ == coming_.size()) Mark(marked_++);
    seen_.records.Prefetch(record);
    coming_[counted_++ % coming_.size()] = record;
  }

  void Mark(uint64_t i) {
    if (seen_.records.Add(coming_[i % coming_.size()])) ++seen_.doubled;
  }

  const Job& job_;
  const Schedule schedule_;
  Order order_;
  const uint64_t row_;
  Seen& seen_;
  RankResult result_;
  uint64_t at_row_ = 0;
  std::array<uint64_t, 32> coming_;  // the last records
  uint64_t counted_ = 0, marked_ = 0;
  std::vector<uint64_t> pending_;
  std::vector<uint64_t> shards_;
};

// Records that two threads have seen, and that none has.
std::pair<uint64_t, uint64_t> DoubledAndMissed(const Job& job, const std::vector<Seen>& seen) {
  if (job.most) return {0, 0};
  uint64_t doubled = 0, there = 0;
  for (const Seen& each : seen) doubled += each.doubled;
  for (size_t i = 0; i < seen.front().records.words().size(); ++i) {
    uint64_t any = 0, twice = 0;
    for (const Seen& each : seen) {
      twice |= any & each.records.words()[i];
      any |= each.records.words()[i];
    }
    there += static_cast<uint64_t>(std::popcount(any));
    doubled += static_cast<uint64_t>(std::popcount(twice));
  }
  return {doubled, job.records - there};
}

void PrintRange(const char* name, std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  std::printf(", \"%s\": {\"least\": %llu, \"median\": %llu, \"most\": %llu}", name,
              static_cast<unsigned long long>(values.front()),
              static_cast<unsigned long long>(values[values.size() / 2]),
              static_cast<unsigned long long>(values.back()));
}

// getrusage() would count the program that started this one.
double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes / 1024;
  }
  return 0;
}

void Run(const Job& job) {
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t ranks = job.simulated_ranks();
  std::vector<Seen> seen(ParallelThreads(ranks, 0), Seen(job));
  std::vector<RankResult> results(ranks);
  ParallelFor(ranks, 0, [&](size_t worker, size_t i) {
    results[i] = Rank(job, static_cast<uint32_t>(i), seen[worker]).Run();
  });
  const auto [doubled, missed] = DoubledAndMissed(job, seen);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  uint64_t samples = 0;
  for (const RankResult& result : results) samples += result.samples;
  std::printf(
      "{\"records\": %llu, \"record_bytes\": %llu, \"shards\": %llu, \"ranks\": %u, \"batch\": %u, "
      "\"order\": \"%s\", \"simulated_ranks\": %llu, \"samples\": %llu, \"doubled\": %llu, "
      "\"missed\": %llu, \"threads\": %zu, \"seconds\": %.3f, \"peak_mb\": %.1f",
      static_cast<unsigned long long>(job.records),
      static_cast<unsigned long long>(job.record_bytes),
      static_cast<unsigned long long>(job.shards()), job.ranks, job.batch,
      OrderText(job.order).c_str(), static_cast<unsigned long long>(ranks),
      static_cast<unsigned long long>(samples), static_cast<unsigned long long>(doubled),
      static_cast<unsigned long long>(missed), seen.size(), seconds.count(), PeakMegabytes());
  const auto range = [&](const char* name, uint64_t RankResult::*member) {
    std::vector<uint64_t> values;
    for (const RankResult& result : results) values.push_back(result.*member);
    PrintRange(name, std::move(values));
  };
  range("samples_of_rank", &RankResult::samples);
  range("shards_of_rank", &RankResult::shards);
  range("reads_of_rank", &RankResult::reads);
  std::printf("}\n");
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fprintf(stderr, "usage: epoch_of_ranks RECORDS BYTES RANKS BATCH ORDER [MOST]\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  try {
    recpack::Job job{.records = number(1),
                     .record_bytes = number(2),
                     .ranks = static_cast<uint32_t>(number(3)),
                     .batch = static_cast<uint32_t>(number(4))};
    job.order = recpack::ResolveOrder(recpack::ParseOrder(argv[5]), job.records,
                                      job.records * job.record_bytes);
    if (argc == 7) job.most = number(6);
    recpack::Run(job);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "epoch_of_ranks: %s\n", error.what());
    return 2;
  }
}
