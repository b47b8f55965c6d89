// What the operations of a CPU device share.
#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>

#include "recpack/base/error.h"
#include "src/train/cpu/team.h"
#include "src/train/ops/memory_purpose.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

// Of one device. Outlives its operations.
struct CpuContext {
  dnnl::engine engine;
  dnnl::stream stream;
  Team team;
};

dnnl::memory::data_type DnnlType(ValueType type);
// A picture as it lies in memory.
dnnl::memory::desc DnnlPicture(const Shape& shape, ValueType type, ImageLayout layout);
dnnl::memory::desc DnnlDense(const Shape& shape, ValueType type);

// Throws Error: OutOfMemory, or kUnsupported.
[[noreturn]] void ThrowDnnlError(const std::string& what, const dnnl::error& error);

// Throws HostMemoryError where there is no room for the code of a primitive: oneDNN writes to a
// null pointer where it gets none.
void RequireRoomForCode();

// Makes something of oneDNN, or says as an Error what could not be made.
template <typename Body>
auto WithDnnl(const std::string& what, const Body& body) {
  try {
    return WithMemoryFor(what, [&] {
      RequireRoomForCode();
      return body();
    });
  } catch (const dnnl::error& error) {
    ThrowDnnlError(what, error);
  }
}

// An array that a primitive wants in a form of its own: copied there and back where it must be.
class DnnlArray {
 public:
  DnnlArray() = default;
  // `ours`: how callers have it; `theirs`: how the primitive wants it.
  DnnlArray(const CpuContext& context, const dnnl::memory::desc& ours,
            const dnnl::memory::desc& theirs);

  // For the primitive to read.
  const dnnl::memory& In(const CpuContext& context, const void* data);
  // For the primitive to write; Finish() brings it to `data`.
  const dnnl::memory& Out(void* data);
  void Finish(const CpuContext& context);
  // As it was given last.
  const dnnl::memory& memory() const { return same_ ? ours_ : theirs_; }

 private:
  bool same_ = true;
  dnnl::memory ours_, theirs_;
  dnnl::reorder in_, out_;
};

std::unique_ptr<Convolution> MakeCpuConvolution(const CpuContext& context,
                                                const ConvolutionSpec& spec);
std::unique_ptr<Dense> MakeCpuDense(const CpuContext& context, const DenseSpec& spec);
std::unique_ptr<BatchNorm> MakeCpuBatchNorm(Ops& ops, const CpuContext& context,
                                            const BatchNormSpec& spec);
std::unique_ptr<Pooling> MakeCpuPooling(const CpuContext& context, const PoolingSpec& spec);
std::unique_ptr<Embedding> MakeCpuEmbedding(const CpuContext& context, const EmbeddingSpec& spec);
std::unique_ptr<Factorisation> MakeCpuFactorisation(const CpuContext& context,
                                                    const FactorisationSpec& spec);

}  // namespace recpack::train
