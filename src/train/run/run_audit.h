// Audits the samples that a training received against its data set.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "recpack/device/feeder.h"
#include "src/train/checkpoint/checkpoint.h"
#include "src/train/collectives/collective.h"

namespace recpack::train {

// One tower's part. Uses the loaders' audits up to the last step taken.
class RunAudit {
 public:
  // `begin`: start of the run. An epoch that an earlier run began without an audit has none.
  // `index`: of the tower in its process.
  RunAudit(const CheckpointInfo& begin, size_t index);

  // Call after a step on the batch.
  void Took(const DeviceBatch& batch);

  // The audit of the epoch so far over all processes, as text; empty if there is none. Collective
  // over all towers, after equally many steps; all get the same result.
  std::string AcrossTowers(Collective& towers) const;

 private:
  const bool first_;  // the process's first tower, which provides its audit
  std::optional<uint64_t> unknown_epoch_;
  std::shared_ptr<const EpochAudit> latest_;
};

// Checks the result of AcrossTowers() against the data set; nullopt for an empty text. Takes time
// proportional to the number of samples.
std::optional<AuditReport> CheckRunAudit(const std::string& text, const DeviceFeeder& feeder);

}  // namespace recpack::train
