#include "src/train/replicated.h"

#include <span>
#include <utility>

namespace recpack {

Replicated::Replicated(const OptimizerOptions& options, std::unique_ptr<Collective> collective,
                       size_t bucket_elements)
    : OwnVariables(options),
      collective_(std::move(collective)),
      bucket_elements_(bucket_elements) {}

void Replicated::Start(Ops& ops, Variables& variables) {
  OwnVariables::Start(ops, variables);
  Share(variables.trained(), variables.trained_size());
  Share(variables.statistics(), variables.statistics_size());
  queue_.emplace(variables, bucket_elements_, [this](size_t number) {
    const Bucket& bucket = queue_->buckets()[number];
    collective_->AllReduce({variables_->gradients() + bucket.begin, bucket.end - bucket.begin});
  });
}

void Replicated::Share(float* values, size_t count) {
  collective_->Broadcast(std::as_writable_bytes(std::span(values, count)), 0);
}

void Replicated::BeginStep(const UpdateStep& step) {
  step_ = step;
  queue_->BeginStep();
}

void Replicated::EndStep() {
  account_.waited += queue_->EndStep();
  account_.calls += queue_->buckets().size();
  account_.bytes += variables_->trained_size() * sizeof(float);
  UpdateAll();
}

}  // namespace recpack
