#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/norm_fold.h"
#include "src/train/cpu/onednn.h"
#include "src/train/ops/norm_passes.h"

namespace recpack::train {
namespace {

// Rows that are summed in f32 before they are added to a double.
constexpr size_t kRowsAtATime = 256;

// Work is divided into stretches: for NHWC, some rows of all channels; for NCHW, a plane, as rows
// of 16 values. Per-channel values are stored once per value of a row.
class CpuBatchNorm final : public NormPasses {
 public:
  CpuBatchNorm(Ops& ops, const CpuContext& context, const BatchNormSpec& spec)
      : NormPasses(ops, spec),
        team_(context.team),
        type_(spec.type == ElementType::kF32 ? ElementType::kF32 : ElementType::kBf16),
        bytes_(ElementBytes(type_)),
        channels_(static_cast<size_t>(spec.channels)),
        plane_(static_cast<size_t>(spec.height * spec.width)),
        pixels_(static_cast<size_t>(spec.batch) * plane_),
        nhwc_(spec.layout == ImageLayout::kNhwc),
        lanes_(nhwc_ || plane_ % 16 != 0 ? 1 : 16),
        width_(nhwc_ ? channels_ : lanes_),
        stretches_(nhwc_ ? (pixels_ + kRowsAtATime - 1) / kRowsAtATime
                         : static_cast<size_t>(spec.batch) * channels_),
        partial_(stretches_ * 2 * width_),
        sums_(2 * channels_ + 1),
        inverse_std_(channels_) {
    for (auto* values : {&shift_, &factor_, &term_, &mean_, &of_g_, &of_x_, &constant_}) {
      values->resize(channels_ * lanes_);
    }
  }

  void Train(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    // Shift of the sums, from the batch alone, so that a step does not depend on running statistics
    // that may differ between devices. With synchronised statistics, all devices must use the same
    // shift: the running mean, which is equal on all.
    for (size_t c = 0; c < channels_; ++c) {
      Set(shift_, c, spec_.sum_over_devices ? variables.running_mean[c] : FirstValue(x, c));
    }
    SumUp([&](const Stretch& at, float* sums, float* squares) {
      NormSums(type_, {At(x, at), shift_.data() + at.channel, sums, squares}, at.rows, at.width);
    });
    const double count = sums_[2 * channels_];
    for (size_t c = 0; c < channels_; ++c) {
      const NormStatistics batch = ComputeNormStatistics(sums_[c], sums_[channels_ + c], count,
                                                         shift_[c * lanes_], spec_.epsilon);
      Set(mean_, c, batch.mean);
      inverse_std_[c] = batch.inverse_std;
      MoveRunning(batch, spec_.momentum, &variables.running_mean[c],
                  &variables.running_variance[c]);
      Fold(variables, c, batch.mean, batch.inverse_std);
    }
    Apply(x, residual, y);
  }

  void Infer(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    for (size_t c = 0; c < channels_; ++c) {
      Fold(variables, c, variables.running_mean[c],
           RunningInverseStd(variables.running_variance[c], spec_.epsilon));
    }
    Apply(x, residual, y);
  }

  void Backward(const BatchNormVariables& variables, void* dy, const void* dy_more, const void* x,
                const void* y, void* dx, void* d_residual, float* d_scale,
                float* d_shift) override {
    const Gradient gradient = Prepare(dy, dy_more, y, d_residual);
    SumUp([&](const Stretch& at, float* sums, float* products) {
      NormGradientSums(type_,
                       {At(dy, at), At(gradient.more, at), At(x, at), At(y, at),
                        factor_.data() + at.channel, term_.data() + at.channel,
                        mean_.data() + at.channel, At(gradient.g, at), sums, products},
                       gradient.mask, at.rows, at.width);
    });
    const double count = sums_[2 * channels_];
    for (size_t c = 0; c < channels_; ++c) {
      d_shift[c] = static_cast<float>(own_[c]);
      d_scale[c] = static_cast<float>(own_[channels_ + c] * inverse_std_[c]);
      const NormPlane plane =
          FoldNormGradient(sums_[c], sums_[channels_ + c], count, variables.scale[c],
                           mean_[c * lanes_], inverse_std_[c]);
      Set(of_g_, c, plane.of_g);
      Set(of_x_, c, plane.of_x);
      Set(constant_, c, plane.constant);
    }
    ForStretches([&](const Stretch& at, size_t) {
      NormGradientApply(type_,
                        {At(gradient.from, at), At(x, at), At(dx, at), factor_.data() + at.channel,
                         term_.data() + at.channel, of_g_.data() + at.channel,
                         of_x_.data() + at.channel, constant_.data() + at.channel},
                        gradient.last, at.rows, at.width);
    });
  }

 private:
  struct Stretch {
    size_t first;    // element
    size_t channel;  // index into the constants
    size_t rows, width;
  };

  template <typename T>
  T* At(T* array, const Stretch& at) const {
    if (!array) return nullptr;
    using Bytes = std::conditional_t<std::is_const_v<T>, const uint8_t, uint8_t>;
    return static_cast<Bytes*>(array) + at.first * bytes_;
  }

  // The channel's first value.
  float FirstValue(const void* x, size_t c) const {
    const size_t at = nhwc_ ? c : c * plane_;
    if (type_ == ElementType::kF32) return static_cast<const float*>(x)[at];
    const uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t*>(x)[at]) << 16;
    return std::bit_cast<float>(bits);
  }

  // Calls body(stretch, its number) in parallel.
  template <typename Body>
  void ForStretches(const Body& body) const {
    team_.For(stretches_, [&](size_t i) {
      if (!nhwc_) {
        body(Stretch{i * plane_, i % channels_ * lanes_, plane_ / lanes_, lanes_}, i);
        return;
      }
      const size_t begin = i * kRowsAtATime;
      body(Stretch{begin * channels_, 0, std::min(kRowsAtATime, pixels_ - begin), channels_}, i);
    });
  }

  // Totals per channel of what sum(stretch, sums, others) adds up: own_ for this device, sums_ over
  // all devices, with the number of pixels at the end.
  template <typename Sum>
  void SumUp(const Sum& sum) {
    std::fill(partial_.begin(), partial_.end(), 0.0F);
    ForStretches([&](const Stretch& at, size_t i) {
      float* partial = partial_.data() + i * 2 * width_;
      sum(at, partial, partial + width_);
    });
    own_.assign(2 * channels_, 0);
    for (size_t i = 0; i < stretches_; ++i) {
      const float* partial = partial_.data() + i * 2 * width_;
      double* to = own_.data() + (nhwc_ ? 0 : i % channels_);
      for (size_t k = 0; k < width_; ++k) {
        to[k / lanes_] += partial[k];
        to[k / lanes_ + channels_] += partial[width_ + k];
      }
    }
    std::copy(own_.begin(), own_.end(), sums_.begin());
    sums_.back() = static_cast<double>(pixels_);
    if (!spec_.sum_over_devices) return;
    std::vector<float> all(sums_.begin(), sums_.end());
    spec_.sum_over_devices(all.data(), all.size());
    std::copy(all.begin(), all.end(), sums_.begin());
  }

  void Fold(const BatchNormVariables& variables, size_t c, float mean, float inverse_std) {
    const NormLine line = FoldNorm(variables.scale[c], variables.shift[c], mean, inverse_std);
    Set(factor_, c, line.factor);
    Set(term_, c, line.term);
  }

  void Set(std::vector<float>& values, size_t c, float value) const {
    std::fill_n(values.begin() + static_cast<ptrdiff_t>(c * lanes_), lanes_, value);
  }

  void Apply(const void* x, const void* residual, void* y) {
    const void* added = Fused(residual);
    ForStretches([&](const Stretch& at, size_t) {
      NormApply(type_,
                {At(x, at), At(added, at), At(y, at), factor_.data() + at.channel,
                 term_.data() + at.channel},
                fused_relu(), at.rows, at.width);
    });
    Complete(residual, y);
  }

  const Team& team_;
  const ElementType type_;
  const size_t bytes_, channels_, plane_, pixels_;
  const bool nhwc_;
  const size_t lanes_;  // values of a row that belong to one channel
  const size_t width_;  // values of a row
  const size_t stretches_;
  std::vector<float> partial_;      // per stretch
  std::vector<double> own_, sums_;  // first sums, then the others
  std::vector<float> inverse_std_;
  std::vector<float> shift_, factor_, term_, mean_, of_g_, of_x_, constant_;  // per lane
};

}  // namespace

std::unique_ptr<BatchNorm> MakeCpuBatchNorm(Ops& ops, const CpuContext& context,
                                            const BatchNormSpec& spec) {
  return std::make_unique<CpuBatchNorm>(ops, context, spec);
}

}  // namespace recpack::train
