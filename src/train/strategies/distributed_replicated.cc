#include "src/train/strategies/distributed_replicated.h"

#include <exception>
#include <utility>

#include "src/train/ops/memory_purpose.h"

namespace recpack::train {

DistributedReplicated::DistributedReplicated(std::shared_ptr<MasterCopy> master,
                                             std::unique_ptr<Collective> local,
                                             size_t bucket_elements, bool repeats)
    : master_(std::move(master)),
      local_(std::move(local)),
      bucket_elements_(bucket_elements),
      repeats_(repeats) {}

// All devices start with the same variables, from the same seed.
void DistributedReplicated::Start(Ops& ops, Variables& variables) {
  ops_ = &ops;
  variables_ = &variables;
  queue_.emplace(ops, variables, bucket_elements_, [this](size_t bucket) { Exchange(bucket); });
  if (first()) master_->Start(variables, Values(), queue_->buckets());
}

std::vector<float> DistributedReplicated::Values() const {
  std::vector<float> values = HostFloats(variables_->trained_size(), "the master copy");
  ops_->Download(values.data(), variables_->trained(), values.size() * sizeof(float));
  return values;
}

void DistributedReplicated::BeginStep(const UpdateStep& step) {
  step_ = step;
  queue_->BeginStep();
}

void DistributedReplicated::Exchange(size_t bucket) {
  ExchangedGradients& gradients = queue_->gradients();
  try {
    local_->Reduce(gradients.Fetch(bucket), 0);
    if (first()) master_->Update(bucket, gradients.all(), step_);
    local_->Barrier();
  } catch (const std::exception& error) {
    if (first()) {
      master_->failure().Set(std::current_exception());
      local_->Abort(error.what());
    }
    master_->failure().ThrowIfSet();
    throw;
  }
}

// The next step's first exchange waits for all devices, so none changes what another still copies.
void DistributedReplicated::EndStep() {
  account_.waited += queue_->EndStep();
  const size_t bytes = variables_->trained_size() * sizeof(float);
  ops_->Upload(variables_->trained(), master_->values().data(), bytes);
  account_.calls += queue_->buckets().size() + 1;
  account_.bytes += 2 * bytes;
}

void DistributedReplicated::Settle() {
  if (first()) master_->GatherSlots();
}

void DistributedReplicated::ReadSlot(size_t slot, size_t variable, float* to) {
  master_->ReadSlot(slot, variables_->offset(variable), {to, variables_->size(variable)});
}

void DistributedReplicated::WriteSlot(size_t slot, size_t variable, const float* from) {
  if (!first()) return;
  master_->WriteSlot(slot, variables_->offset(variable), {from, variables_->size(variable)});
}

void DistributedReplicated::VariablesSet() {
  if (first()) master_->Set(Values());
}

void DistributedReplicated::Abort(const std::string& reason) noexcept {
  master_->Abort(reason);
  local_->Abort(reason);
}

}  // namespace recpack::train
