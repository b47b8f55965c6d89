#include <atomic>
#include <cstring>

#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

// Vectors are gathered in f32, row-major; other types and layouts are converted afterwards.
class CpuEmbedding final : public Embedding {
 public:
  CpuEmbedding(const CpuContext& context, const EmbeddingSpec& spec)
      : context_(context), spec_(spec), dims_(static_cast<size_t>(spec.dims)) {
    if (spec.id_type != ElementType::kI64 && spec.id_type != ElementType::kI32) {
      throw Error(ErrorKind::kUnsupported, "tokens must be i64 or i32");
    }
    const auto plain = DnnlPicture(spec.out_shape(), ElementType::kF32, ImageLayout::kNhwc);
    y_ = {context, DnnlPicture(spec.out_shape(), spec.type, spec.layout), plain};
  }

  void Forward(const void* ids, const float* table, void* y, LossSums* sums) override {
    auto* const to = static_cast<float*>(y_.Out(y).get_data_handle());
    std::atomic<int64_t> bad = 0;
    context_.team.For(static_cast<size_t>(spec_.batch), [&](size_t sample) {
      const auto length = static_cast<size_t>(spec_.length);
      for (size_t i = sample * length; i < (sample + 1) * length; ++i) {
        const int64_t id = IdAt(ids, i);
        if (IsToken(id)) {
          std::memcpy(to + i * dims_, Row(table, id), dims_ * sizeof(float));
        } else {
          std::memset(to + i * dims_, 0, dims_ * sizeof(float));
          if (id != 0) ++bad;
        }
      }
    });
    y_.Finish(context_);
    sums->bad_labels += static_cast<float>(bad);
  }

  // Each thread scans all tokens and adds up the table rows it owns, so the order of additions
  // within a row is that of the tokens, for any number of threads.
  void Backward(const void* ids, const void* dy, float* d_table, bool add) override {
    const auto* const from = static_cast<const float*>(y_.In(context_, dy).get_data_handle());
    const auto parts = static_cast<int64_t>(context_.team.threads());
    context_.team.For(static_cast<size_t>(parts), [&](size_t at) {
      const auto part = static_cast<int64_t>(at);
      for (int64_t id = part; !add && id < spec_.vocabulary; id += parts) {
        std::memset(d_table + id * spec_.dims, 0, dims_ * sizeof(float));
      }
      for (size_t i = 0; i < static_cast<size_t>(spec_.batch * spec_.length); ++i) {
        const int64_t id = IdAt(ids, i);
        if (id % parts != part || !IsToken(id)) continue;
        float* const row = d_table + id * spec_.dims;
        for (size_t k = 0; k < dims_; ++k) row[k] += from[i * dims_ + k];
      }
    });
  }

 private:
  int64_t IdAt(const void* ids, size_t i) const {
    return spec_.id_type == ElementType::kI64 ? static_cast<const int64_t*>(ids)[i]
                                              : static_cast<const int32_t*>(ids)[i];
  }
  bool IsToken(int64_t id) const { return id > 0 && id < spec_.vocabulary; }
  const float* Row(const float* table, int64_t id) const { return table + id * spec_.dims; }

  const CpuContext& context_;
  const EmbeddingSpec spec_;
  const size_t dims_;
  DnnlArray y_;
};

}  // namespace

std::unique_ptr<Embedding> MakeCpuEmbedding(const CpuContext& context, const EmbeddingSpec& spec) {
  return WithDnnl("an embedding", [&] { return std::make_unique<CpuEmbedding>(context, spec); });
}

}  // namespace recpack::train
