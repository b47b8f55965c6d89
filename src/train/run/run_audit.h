// Whether a training has had the samples that it should.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "recpack/device/feeder.h"
#include "src/train/checkpoint/checkpoint.h"
#include "src/train/collectives/collective.h"

namespace recpack::train {

// One tower's part. Audits are the loaders', up to the last step that was taken.
class RunAudit {
 public:
  // `begin`: where the run begins. An epoch that was begun before, by a run that kept no audit, has
  // none. `index`: of the tower in its process.
  RunAudit(const CheckpointInfo& begin, size_t index);

  // Behind a step on it.
  void Took(const DeviceBatch& batch);

  // Of the epoch so far, over all processes, as text; empty where there is none. Each tower calls
  // it, after as many steps, and gets the same.
  std::string OfAll(Collective& towers) const;

 private:
  const bool first_;  // of its process, whose audit it gives
  std::optional<uint64_t> unknown_epoch_;
  std::shared_ptr<const EpochAudit> latest_;
};

// Holds what OfAll() gave against the data set; nothing for an empty text. Takes time in proportion
// to the samples.
std::optional<AuditReport> CheckRunAudit(const std::string& text, const DeviceFeeder& feeder);

}  // namespace recpack::train
