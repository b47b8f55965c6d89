#include "src/train/run/run_audit.h"

#include <span>
#include <utility>

#include "recpack/loader/token.h"

namespace recpack::train {
namespace {

std::string Broadcast(Collective& towers, std::string text, uint64_t size, size_t from) {
  text.resize(size);
  towers.host().Broadcast(std::as_writable_bytes(std::span(text)), static_cast<int>(from));
  return text;
}

}  // namespace

RunAudit::RunAudit(const CheckpointInfo& begin, size_t index) : first_(index == 0) {
  if (begin.loader_token.empty() || !begin.loader_audit.empty()) return;
  const ResumeToken token = ParseToken(begin.loader_token);
  if (token.position > 0) unknown_epoch_ = token.epoch;
}

void RunAudit::Took(const DeviceBatch& batch) { latest_ = batch.audit(); }

std::string RunAudit::AcrossTowers(Collective& towers) const {
  const bool known = latest_ && latest_->key().epoch != unknown_epoch_;
  const std::string own = known && first_ ? latest_->Text() : "";
  const auto sizes = GatherValues(towers, own.size());
  std::optional<EpochAudit> all;
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    if (sizes[rank] == 0) continue;
    const bool is_own = rank == static_cast<size_t>(towers.rank());
    const EpochAudit audit =
        EpochAudit::Parse(Broadcast(towers, is_own ? own : "", sizes[rank], rank));
    all ? all->Merge(audit) : void(all = audit);
  }
  return all ? all->Text() : "";
}

std::optional<AuditReport> CheckRunAudit(const std::string& text, const DeviceFeeder& feeder) {
  if (text.empty()) return std::nullopt;
  return CheckAudit(feeder.samples(), EpochAudit::Parse(text), 0);
}

}  // namespace recpack::train
