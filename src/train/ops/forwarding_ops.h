// Base of devices that observe the calls to another device.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "src/train/ops/exchange_stream.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

// Forwards all calls to another Ops, which it owns. Models made with it must be destroyed before
// it.
class ForwardingOps : public Ops {
 public:
  explicit ForwardingOps(std::unique_ptr<Ops> ops) : inner_(std::move(ops)) {}

  std::string Describe() const override { return inner_->Describe(); }
  bool Computes(ElementType type) const override { return inner_->Computes(type); }
  void Attach() override { inner_->Attach(); }
  DeviceStream Stream() const noexcept override { return inner_->Stream(); }
  bool RecordsOperations() const noexcept override { return inner_->RecordsOperations(); }

  void Upload(void* to, const void* from, size_t bytes) override {
    inner_->Upload(to, from, bytes);
  }
  void Download(void* to, const void* from, size_t bytes) override {
    inner_->Download(to, from, bytes);
  }
  void Copy(void* to, const void* from, size_t bytes) override { inner_->Copy(to, from, bytes); }
  void Zero(void* to, size_t bytes) override { inner_->Zero(to, bytes); }
  void Synchronise() override { inner_->Synchronise(); }
  void CopyFrom(Ops& other, void* to, const void* from, size_t bytes) override {
    inner_->CopyFrom(other, to, from, bytes);
  }
  std::unique_ptr<ExchangeStream> MakeExchangeStream(size_t marks) override {
    return inner_->MakeExchangeStream(marks);
  }
  std::unique_ptr<CapturedWork> Capture(std::function<void()> work) override {
    return inner_->Capture(std::move(work));
  }
  bool Capturing() const noexcept override { return inner_->Capturing(); }
  void Beside(const std::function<void()>& work) override { inner_->Beside(work); }
  void Rejoin() override { inner_->Rejoin(); }
  std::unique_ptr<Readback> MakeReadback(size_t bytes) override {
    return inner_->MakeReadback(bytes);
  }

  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) override {
    return inner_->MakeConvolution(spec);
  }
  std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) override {
    return inner_->MakeDense(spec);
  }
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) override {
    return inner_->MakeBatchNorm(spec);
  }
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) override {
    return inner_->MakePooling(spec);
  }
  void Activate(Activation activation, const Tensor& x, const Tensor& y) override {
    inner_->Activate(activation, x, y);
  }
  void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                        const Tensor& dx) override {
    inner_->ActivateBackward(activation, y, dy, dx);
  }
  void Add(const Tensor& x, const Tensor& to) override { inner_->Add(x, to); }
  void Concatenate(std::span<const Tensor> parts, const Tensor& whole) override {
    inner_->Concatenate(parts, whole);
  }
  void CopyRows(void* to, const void* from, const RowCopy& rows) override {
    inner_->CopyRows(to, from, rows);
  }
  void Convert(const Tensor& from, const Tensor& to) override { inner_->Convert(from, to); }
  void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                           float scale, float* d_logits, LossSums* sums) override {
    inner_->SoftmaxCrossEntropy(logits, labels, mask, scale, d_logits, sums);
  }
  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    inner_->Sgd(update, value, gradient, velocity, count);
  }
  void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
            float* second, size_t count) override {
    inner_->Adam(update, value, gradient, first, second, count);
  }
  std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) override {
    return inner_->MakeEmbedding(spec);
  }
  std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) override {
    return inner_->MakeFactorisation(spec);
  }
  void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                    float scale, float* d_predictions, LossSums* sums) override {
    inner_->SquaredError(predictions, targets, mask, scale, d_predictions, sums);
  }

 protected:
  Ops& inner() const noexcept { return *inner_; }

 private:
  void* AllocateBytes(size_t bytes) override {
    DeviceArray array = inner_->Allocate(bytes);
    void* const data = array.data();
    memory_.emplace(data, std::move(array));
    return data;
  }
  void FreeBytes(void* memory) noexcept override { memory_.erase(memory); }

  std::unique_ptr<Ops> inner_;
  std::map<void*, DeviceArray> memory_;
};

}  // namespace recpack::train
