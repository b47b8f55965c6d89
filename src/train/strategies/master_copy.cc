#include "src/train/strategies/master_copy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "src/train/ops/memory_purpose.h"

namespace recpack::train {

MasterCopy::MasterCopy(const OptimizerOptions& options, std::shared_ptr<Collective> processes,
                       std::unique_ptr<Ops> ops)
    : options_(options), processes_(std::move(processes)), ops_(std::move(ops)) {}

void MasterCopy::Start(const Variables& variables, std::vector<float> values,
                       const std::vector<Bucket>& buckets) {
  variables_ = &variables;
  buckets_ = buckets;
  const auto count = static_cast<size_t>(processes_->size());
  const auto rank = static_cast<size_t>(processes_->rank());
  size_t own = 0;
  for (const Bucket& bucket : buckets_) {
    Part part;
    part.at = own;
    part.length = (bucket.end - bucket.begin + count - 1) / count;
    part.begin = std::min(bucket.begin + rank * part.length, bucket.end);
    part.end = std::min(part.begin + part.length, bucket.end);
    own += part.end - part.begin;
    parts_.push_back(part);
  }
  for (const std::string& slot : SlotNames(options_)) {
    slots_.push_back(HostFloats(own, "the " + slot + " of the master copy"));
  }
  Set(std::move(values));
}

void MasterCopy::Update(size_t number, const float* gradients, const UpdateStep& step) {
  if (!std::exchange(attached_, true)) ops_->Attach();
  whole_ = {};
  const Bucket& bucket = buckets_[number];
  const Part& part = parts_[number];
  padded_.assign(part.length * static_cast<size_t>(processes_->size()), 0.0F);
  std::copy(gradients + bucket.begin, gradients + bucket.end, padded_.begin());
  const std::span sum = std::span(padded_).subspan(
      part.length * static_cast<size_t>(processes_->rank()), part.length);
  processes_->ReduceScatter(padded_, sum);
  UpdatePart(bucket, part, sum.data(), step);
  const float* all = Gather(part, values_.data() + part.begin);
  std::copy(all, all + (bucket.end - bucket.begin), values_.data() + bucket.begin);
}

// A variable may extend beyond a part's ends.
void MasterCopy::UpdatePart(const Bucket& bucket, const Part& part, const float* gradients,
                            const UpdateStep& step) {
  for (const size_t variable : bucket.variables) {
    const size_t offset = variables_->offset(variable);
    const size_t begin = std::max(offset, part.begin);
    const size_t end = std::min(offset + variables_->size(variable), part.end);
    if (begin >= end) continue;
    std::vector<float*> slots;
    for (std::vector<float>& slot : slots_) {
      slots.push_back(slot.data() + part.at + (begin - part.begin));
    }
    UpdateValues(*ops_, options_, step, variables_->specs()[variable].decayed,
                 values_.data() + begin, gradients + (begin - part.begin), slots, end - begin);
  }
}

// Concatenates the processes' parts. `own`: as long as this process's part.
float* MasterCopy::Gather(const Part& part, const float* own) {
  padded_.resize(part.length * static_cast<size_t>(processes_->size()));
  const std::span mine = std::span(padded_).subspan(
      part.length * static_cast<size_t>(processes_->rank()), part.length);
  std::copy(own, own + (part.end - part.begin), mine.begin());
  processes_->AllGather(std::as_bytes(mine), std::as_writable_bytes(std::span(padded_)));
  return padded_.data();
}

void MasterCopy::GatherSlots() {
  const bool here = processes_->rank() == 0;
  whole_.clear();
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (here) whole_.push_back(HostFloats(values_.size(), "what the optimizer keeps"));
    for (size_t i = 0; i < buckets_.size(); ++i) {
      const float* all = Gather(parts_[i], slots_[slot].data() + parts_[i].at);
      if (!here) continue;
      std::copy(all, all + (buckets_[i].end - buckets_[i].begin),
                whole_[slot].data() + buckets_[i].begin);
    }
  }
}

void MasterCopy::ReadSlot(size_t slot, size_t begin, std::span<float> to) const {
  std::copy_n(whole_.at(slot).data() + begin, to.size(), to.begin());
}

void MasterCopy::WriteSlot(size_t slot, size_t begin, std::span<const float> from) {
  for (const Part& part : parts_) {
    const size_t first = std::max(begin, part.begin);
    const size_t end = std::min(begin + from.size(), part.end);
    if (first >= end) continue;
    std::copy(from.begin() + static_cast<ptrdiff_t>(first - begin),
              from.begin() + static_cast<ptrdiff_t>(end - begin),
              slots_[slot].data() + part.at + (first - part.begin));
  }
}

}  // namespace recpack::train
