#include "src/train/strategies/replicated.h"

#include <span>
#include <utility>
#include <vector>

#include "src/train/ops/memory_purpose.h"

namespace recpack::train {

Replicated::Replicated(const OptimizerOptions& options, std::shared_ptr<Collective> host,
                       size_t bucket_elements, bool repeats, OnDevices on_devices)
    : OwnVariables(options),
      host_(std::move(host)),
      bucket_elements_(bucket_elements),
      repeats_(repeats),
      make_on_devices_(std::move(on_devices)) {}

void Replicated::Start(Ops& ops, Variables& variables) {
  OwnVariables::Start(ops, variables);
  ops_ = &ops;
  if (make_on_devices_) on_devices_ = make_on_devices_(host_);
  Share(variables.trained(), variables.trained_size());
  Share(variables.statistics(), variables.statistics_size());
  queue_.emplace(ops, variables, bucket_elements_, [this](size_t bucket) { Sum(bucket); });
  if (!repeats_) return;
  KeepRates(ops);
  update_.emplace(ops);
}

void Replicated::Share(float* values, size_t count) {
  const auto bytes_of = [count](float* at) { return std::as_writable_bytes(std::span(at, count)); };
  if (on_devices_) return on_devices_->Broadcast(bytes_of(values), 0, ops_->Stream());
  std::vector<float> copy = HostFloats(count, "a copy of the variables");
  ops_->Download(copy.data(), values, count * sizeof(float));
  host_->Broadcast(bytes_of(copy.data()), 0);
  ops_->Upload(values, copy.data(), count * sizeof(float));
}

void Replicated::Sum(size_t bucket) {
  ExchangedGradients& gradients = queue_->gradients();
  if (on_devices_) {
    on_devices_->AllReduce(gradients.Await(bucket), gradients.stream());
  } else {
    host_->AllReduce(gradients.Fetch(bucket));
    gradients.Return(bucket);
  }
}

void Replicated::BeginStep(const UpdateStep& step) {
  SetSteps({&step, 1});
  queue_->BeginStep();
}

void Replicated::EndStep() {
  account_.waited += queue_->EndStep();
  account_.calls += queue_->buckets().size();
  account_.bytes += variables_->trained_size() * sizeof(float);
  const auto update = [this] { UpdateAll(); };
  update_ ? update_->Do({}, update) : update();
}

// Destroys the collective once its work is done; its side stream waits for that.
void Replicated::End() noexcept {
  queue_.reset();
  on_devices_.reset();
}

}  // namespace recpack::train
