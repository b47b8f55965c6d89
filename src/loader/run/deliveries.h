// Account of what a loader delivers: audit, ledger and substitutions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "recpack/loader/audit.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/token.h"
#include "src/loader/batch/ring.h"
#include "src/loader/run/ledger.h"
#include "src/loader/run/loader_plan.h"
#include "src/loader/run/worker.h"

namespace recpack {

// Used by the consumer's thread. Batches are counted as they are given: one that fails never is.
class Deliveries {
 public:
  // Continues the audit of the plan's options, and opens its ledger. `at`: position of the loader,
  // whose count of substitutions is kept here. Both must outlive this object. Throws Error:
  // kInvalidArgument if the audit does not go with the token; whatever Ledger throws.
  Deliveries(const LoaderPlan& plan, ResumeToken& at);

  // Begins the audit of another epoch; does nothing if it is that of `epoch`.
  void BeginEpoch(uint64_t epoch);

  // Takes the workers' substitutions in a batch into ledger, audit and token. Throws Error:
  // kCorrupt if there were too many in this epoch; whatever Ledger::Add() throws.
  void Charge(const std::vector<std::unique_ptr<Worker>>& workers, uint64_t batch);

  // Adds a batch of this size to the audit.
  void Count(const RingSlot& slot, uint32_t samples);

  const EpochAudit& audit() const noexcept { return audit_; }
  const std::vector<Substitution>& substitutions() const noexcept { return substitutions_; }

 private:
  void StartAudit(uint64_t epoch);
  void ContinueAudit(const EpochAudit& given);

  const LoaderPlan& plan_;
  ResumeToken& at_;
  EpochAudit audit_;  // of the batches given
  std::optional<Ledger> ledger_;
  std::vector<Substitution> substitutions_;
};

}  // namespace recpack
