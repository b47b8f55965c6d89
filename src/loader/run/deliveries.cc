#include "src/loader/run/deliveries.h"

#include <algorithm>
#include <cstddef>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

Deliveries::Deliveries(const LoaderPlan& plan, ResumeToken& at) : plan_(plan), at_(at) {
  StartAudit(at.epoch);
  if (plan.options.audit) ContinueAudit(*plan.options.audit);
  if (!plan.options.ledger.empty()) ledger_.emplace(plan.options.ledger);
}

void Deliveries::StartAudit(uint64_t epoch) {
  audit_ = EpochAudit({plan_.mixture.digest(), plan_.options.order, plan_.options.seed, epoch});
  if (plan_.options.audit_counts) audit_.KeepCounts(plan_.mixture);
}

void Deliveries::ContinueAudit(const EpochAudit& given) {
  const bool of_epoch_before = at_.position == 0 && given.key().epoch + 1 == at_.epoch;
  if (of_epoch_before) StartAudit(given.key().epoch);
  if (audit_.has_counts() && !given.has_counts()) {
    Refuse("the audit to continue from has no counts", "leave counts out, or begin with none");
  }
  if (!of_epoch_before && given.samples() > at_.position) {
    Refuse(
        format("the audit has {} samples, the token comes after {}", given.samples(), at_.position),
        "give the audit that was saved with the token");
  }
  audit_.Merge(given);
}

void Deliveries::BeginEpoch(uint64_t epoch) {
  if (audit_.key().epoch != epoch) StartAudit(epoch);
}

void Deliveries::Charge(const std::vector<std::unique_ptr<Worker>>& workers, uint64_t batch) {
  const size_t before = substitutions_.size();
  for (const auto& worker : workers) {
    for (auto& each : worker->TakeSubstitutions(batch)) substitutions_.push_back(std::move(each));
  }
  std::sort(substitutions_.begin() + static_cast<ptrdiff_t>(before), substitutions_.end(),
            [](const auto& a, const auto& b) { return a.position < b.position; });
  const LoaderOptions& options = plan_.options;
  const double own =
      static_cast<double>(plan_.mixture.samples()) * options.local_ranks / options.world_size;
  uint64_t bad = at_.substituted;
  for (size_t i = before; i < substitutions_.size(); ++i) {
    ++bad;
    if (ledger_) ledger_->Add(substitutions_[i]);
    if (static_cast<double>(bad) <= options.max_bad_share * own) continue;
    throw Error(ErrorKind::kCorrupt,
                format("{} bad records in epoch {}, more than {} of it; the last one: {}", bad,
                       at_.epoch, options.max_bad_share, substitutions_[i].reason),
                substitutions_[i].place,
                "recpack verify lists all damage, recpack repair recovers the intact records");
  }
  at_.substituted = bad;
  for (size_t i = before; i < substitutions_.size(); ++i) {
    audit_.AddSubstitution(substitutions_[i].view, substitutions_[i].bad, substitutions_[i].taken);
  }
}

void Deliveries::Count(const RingSlot& slot, uint32_t samples) {
  audit_.AddSum(slot.delivered, slot.delivered_sum);
  const BatchMemory& memory = *slot.memory;
  for (uint32_t i = 0; audit_.has_counts() && i < samples; ++i) {
    if (memory.mask[i] != 0) audit_.CountOne(memory.views[i], memory.ids[i]);
  }
}

}  // namespace recpack
