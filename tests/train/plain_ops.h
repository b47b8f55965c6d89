// Backend of tests of strategies, which computes updates only.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "src/train/ops/ops.h"

namespace recpack::train {

// Host memory in which variables can be updated, and nothing else.
class PlainOps : public Ops {
 public:
  std::string Describe() const override { return "memory of the host"; }
  void Attach() override {}
  void Upload(void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }
  void Download(void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }
  void Copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void Zero(void* to, size_t bytes) override { std::memset(to, 0, bytes); }
  void Synchronise() override {}
  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec&) override { None(); }
  std::unique_ptr<Dense> MakeDense(const DenseSpec&) override { None(); }
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec&) override { None(); }
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec&) override { None(); }
  std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec&) override { None(); }
  std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec&) override { None(); }
  void Activate(Activation, const Tensor&, const Tensor&) override { None(); }
  void ActivateBackward(Activation, const Tensor&, const Tensor&, const Tensor&) override {
    None();
  }
  void Add(const Tensor&, const Tensor&) override { None(); }
  void Convert(const Tensor&, const Tensor&) override { None(); }
  void SoftmaxCrossEntropy(const Tensor&, const int64_t*, const uint8_t*, float, float*,
                           LossSums*) override {
    None();
  }
  void SquaredError(const Tensor&, const float*, const uint8_t*, float, float*,
                    LossSums*) override {
    None();
  }
  void Adam(const AdamUpdate&, float*, const float*, float*, float*, size_t) override { None(); }
  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float*,
           size_t count) override {
    for (size_t i = 0; i < count; ++i) value[i] -= update.rate * gradient[i];
  }

 private:
  [[noreturn]] static void None() { throw std::logic_error("not of these tests"); }
  void* AllocateBytes(size_t bytes) override { return std::malloc(bytes + 1); }
  void FreeBytes(void* memory) noexcept override { std::free(memory); }
};

}  // namespace recpack::train
