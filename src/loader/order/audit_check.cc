// Expected audits, and their comparison with delivered ones.
#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/loader/audit.h"
#include "src/base/format.h"
#include "src/loader/order/sampler.h"

namespace recpack {
namespace {

constexpr uint64_t kChunk = uint64_t{1} << 15;  // positions

void RefuseForeign(const Mixture& mixture, const EpochAudit& audit) {
  bool fits = audit.counts().size() == mixture.views().size();
  for (size_t view = 0; fits && view < mixture.views().size(); ++view) {
    fits = audit.counts()[view].size() == mixture.views()[view].dataset().records();
  }
  if (fits || !audit.has_counts()) return;
  throw Error(ErrorKind::kInvalidArgument, "the audit's counts have another number of records", {},
              "give files that loaders of this data set saved");
}

}  // namespace

EpochAudit ExpectedAudit(const Mixture& mixture, const AuditKey& key, uint64_t samples, bool counts,
                         int threads) {
  if (const auto difference = mixture.DifferenceFrom(key.digest); !difference.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "the audit belongs to another data set: " + difference,
                {}, "open the one that it was made with");
  }
  if (samples > mixture.samples()) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there are no {} samples in an epoch of {}", samples, mixture.samples()), {},
                "ask for no more than an epoch");
  }
  EpochAudit all(key);
  if (counts) {
    all.KeepCounts(mixture);
    threads = 1;  // a single table
  }
  const uint64_t chunks = (samples + kChunk - 1) / kChunk;
  std::vector<EpochAudit> parts(ParallelThreads(chunks, threads), all);
  std::vector<Sampler> samplers(parts.size(), Sampler(mixture, key.order, key.seed));
  ParallelFor(chunks, threads, [&](size_t worker, size_t chunk) {
    const uint64_t end = std::min(samples, (chunk + 1) * kChunk);
    for (uint64_t position = chunk * kChunk; position < end; ++position) {
      const SampledRecord record = samplers[worker].At(key.epoch, position);
      parts[worker].Add(record.view, record.id);
    }
  });
  for (const EpochAudit& part : parts) all.Merge(part);
  return all;
}

AuditReport CheckAudit(const Mixture& mixture, const EpochAudit& audit, size_t most_listed,
                       int threads) {
  const uint64_t samples = std::min(audit.samples(), mixture.samples());
  const EpochAudit expected =
      ExpectedAudit(mixture, audit.key(), samples, audit.has_counts(), threads);
  RefuseForeign(mixture, audit);
  AuditReport report{.holds = samples == audit.samples() && audit.SumMeant() == expected.sum(),
                     .samples = audit.samples(),
                     .epoch_samples = mixture.samples(),
                     .substituted = audit.substituted(),
                     .has_differences = audit.has_counts()};
  for (uint32_t view = 0; view < audit.counts().size(); ++view) {
    for (uint64_t id = 0; id < audit.counts()[view].size(); ++id) {
      const uint8_t wanted = expected.counts()[view][id];
      const uint8_t found = audit.counts()[view][id];
      if (wanted == found) continue;
      ++report.differing;
      if (report.differences.size() < most_listed) {
        report.differences.push_back({view, id, wanted, found});
      }
    }
  }
  return report;
}

}  // namespace recpack
