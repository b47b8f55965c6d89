#include "recpack/base/error.h"
#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels/kernels.h"

namespace recpack::train {
namespace {

class CudaEmbedding final : public Embedding {
 public:
  CudaEmbedding(CudaContext& context, const EmbeddingSpec& spec)
      : context_(context),
        spec_(spec),
        tokens_(static_cast<size_t>(spec.batch * spec.length)),
        order_(4 * tokens_ * sizeof(uint32_t)),
        sort_bytes_(EmbeddingSortBytes(spec)) {
    if (spec.id_type != ElementType::kI64 && spec.id_type != ElementType::kI32) {
      throw Error(ErrorKind::kUnsupported, "tokens must be i64 or i32");
    }
    context.Reserve(sort_bytes_);
  }

  void Forward(const void* ids, const float* table, void* y, LossSums* sums) override {
    LaunchEmbedding(spec_, ids, table, y, sums, context_.stream());
  }

  void Backward(const void* ids, const void* dy, float* d_table, bool add) override {
    const auto array = [&](size_t i) { return order_.As<uint32_t>() + i * tokens_; };
    LaunchEmbeddingBackward(spec_, ids, dy, d_table, add, {array(0), array(1), array(2), array(3)},
                            context_.Workspace<void>(), sort_bytes_, context_.stream());
  }

 private:
  const CudaContext& context_;
  const EmbeddingSpec spec_;
  const size_t tokens_;
  CudaArray order_;
  const size_t sort_bytes_;
};

}  // namespace

std::unique_ptr<Embedding> MakeCudaEmbedding(CudaContext& context, const EmbeddingSpec& spec) {
  return std::make_unique<CudaEmbedding>(context, spec);
}

}  // namespace recpack::train
