#include "src/train/strategies/exchanged_gradients.h"

#include <utility>

namespace recpack::train {

ExchangedGradients::ExchangedGradients(Ops& ops, const Variables& variables,
                                       std::vector<Bucket> buckets)
    : variables_(variables),
      buckets_(std::move(buckets)),
      beside_(ops.MakeExchangeStream(buckets_.size())) {
  if (!beside_) host_ = variables.gradients();
}

void ExchangedGradients::Ready(size_t bucket) {
  if (beside_) beside_->Mark(bucket);
}

std::span<float> ExchangedGradients::Fetch(size_t bucket) {
  if (host_ == nullptr) {
    memory_ = beside_->HostMemory(variables_.trained_size() * sizeof(float));
    host_ = static_cast<float*>(memory_.get());
  }
  const std::span<float> there = Await(bucket), here = In(host_, bucket);
  if (beside_) beside_->Download(here.data(), there.data(), here.size_bytes());
  return here;
}

void ExchangedGradients::Return(size_t bucket) {
  const std::span<float> there = In(variables_.gradients(), bucket), here = In(host_, bucket);
  if (beside_) beside_->Upload(there.data(), here.data(), here.size_bytes());
}

void ExchangedGradients::CopyTo(size_t bucket, float* to, size_t count) {
  beside_->Copy(to, Await(bucket).data(), count * sizeof(float));
  beside_->Wait();
}

std::span<float> ExchangedGradients::Await(size_t bucket) {
  if (beside_) beside_->Await(bucket);
  return In(variables_.gradients(), bucket);
}

void ExchangedGradients::Join() {
  if (beside_) beside_->Join();
}

std::span<float> ExchangedGradients::In(float* array, size_t bucket) const {
  return {array + buckets_[bucket].begin, buckets_[bucket].end - buckets_[bucket].begin};
}

}  // namespace recpack::train
