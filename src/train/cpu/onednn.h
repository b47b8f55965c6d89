// oneDNN helpers that the operations of a CPU device share.
#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <unordered_map>

#include "recpack/base/error.h"
#include "src/train/cpu/team.h"
#include "src/train/ops/memory_purpose.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

// Workspace that the primitives of a device share, as they run one after another. oneDNN's own is
// kept for each thread and counted there: where primitives end on another thread, it is lost.
class Scratchpad {
 public:
  // Attributes of primitives that are given their workspace.
  static dnnl::primitive_attr Attributes();

  // Makes room for a primitive, before it runs.
  void Reserve(const dnnl::memory::desc& needed, const dnnl::engine& engine);
  // Adds the workspace to the arguments of a primitive; `needed`: as it says (scratchpad_desc()).
  void AddTo(std::unordered_map<int, dnnl::memory>& arguments, const dnnl::memory::desc& needed,
             const dnnl::engine& engine) const;

 private:
  dnnl::memory buffer_;
  size_t bytes_ = 0;
};

// Per device. Must outlive its operations.
struct CpuContext {
  dnnl::engine engine;
  dnnl::stream stream;
  Team team;
  std::unique_ptr<Scratchpad> scratchpad = std::make_unique<Scratchpad>();
};

dnnl::memory::data_type DnnlType(ElementType type);
// Memory descriptor of an image batch.
dnnl::memory::desc DnnlPicture(const Shape& shape, ElementType type, ImageLayout layout);
dnnl::memory::desc DnnlDense(const Shape& shape, ElementType type);

// Throws Error: OutOfMemory or kUnsupported.
[[noreturn]] void ThrowDnnlError(const std::string& what, const dnnl::error& error);

// Throws HostMemoryError if there is no memory for the code of a primitive. Without it, oneDNN
// would write to a null pointer.
void RequireRoomForCode();

// Runs `body`, and rethrows oneDNN errors as Error with `what` could not be made.
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

// An array in the memory format that a primitive needs; converted to and from it if necessary.
class DnnlArray {
 public:
  DnnlArray() = default;
  // `ours`: the callers' format; `theirs`: the primitive's.
  DnnlArray(const CpuContext& context, const dnnl::memory::desc& ours,
            const dnnl::memory::desc& theirs);

  // Input of the primitive.
  const dnnl::memory& In(const CpuContext& context, const void* data);
  // Output of the primitive; Finish() converts it to `data`.
  const dnnl::memory& Out(void* data);
  void Finish(const CpuContext& context);
  // The memory of the last In() or Out().
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
