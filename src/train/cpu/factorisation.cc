#include <algorithm>
#include <vector>

#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

// Computes in f32; bf16 is converted.
class CpuFactorisation final : public Factorisation {
 public:
  CpuFactorisation(const CpuContext& context, const FactorisationSpec& spec)
      : context_(context),
        batch_(static_cast<size_t>(spec.batch)),
        in_(static_cast<size_t>(spec.in())),
        factors_(static_cast<size_t>(spec.factors)),
        x_{{context, spec.batch, spec.first, spec.type},
           {context, spec.batch, spec.second, spec.type}},
        sums_(batch_ * factors_) {}

  void Forward(const FactorisationArrays<const float>& variables, const void* first,
               const void* second, float* y) override {
    const Inputs x = Read(first, second);
    context_.team.For(batch_, [&](size_t sample) {
      float* const sums = sums_.data() + sample * factors_;
      std::fill_n(sums, factors_, 0.0F);
      double linear = *variables.bias, squares = 0;
      for (size_t i = 0; i < in_; ++i) {
        const float value = x.At(sample, i);
        const float* const row = variables.factors + i * factors_;
        linear += static_cast<double>(variables.weights[i]) * value;
        for (size_t f = 0; f < factors_; ++f) {
          const float part = row[f] * value;
          sums[f] += part;
          squares += static_cast<double>(part) * part;
        }
      }
      double of_sums = 0;
      for (size_t f = 0; f < factors_; ++f) of_sums += static_cast<double>(sums[f]) * sums[f];
      y[sample] = static_cast<float>(linear + (of_sums - squares) / 2);
    });
  }

  void Backward(const FactorisationArrays<const float>& variables, const void* first,
                const void* second, const float* dy, void* d_first, void* d_second,
                const FactorisationArrays<float>& gradients) override {
    const Inputs x = Read(first, second);
    VariablesBackward(variables, x, dy, gradients);
    float* const to_first = static_cast<float*>(x_[0].gradient.Out(d_first).get_data_handle());
    float* const to_second = static_cast<float*>(x_[1].gradient.Out(d_second).get_data_handle());
    context_.team.For(batch_, [&](size_t sample) {
      for (size_t i = 0; i < in_; ++i) {
        const float value = x.At(sample, i);
        const float* const row = variables.factors + i * factors_;
        float slope = variables.weights[i];
        for (size_t f = 0; f < factors_; ++f) {
          slope += row[f] * (sums_[sample * factors_ + f] - row[f] * value);
        }
        float& to = i < x.first_width ? to_first[sample * x.first_width + i]
                                      : to_second[sample * x.second_width + i - x.first_width];
        to = dy[sample] * slope;
      }
    });
    x_[0].gradient.Finish(context_);
    x_[1].gradient.Finish(context_);
  }

 private:
  struct Side {
    Side(const CpuContext& context, int64_t batch, int64_t in, ElementType type)
        : width(static_cast<size_t>(in)) {
      const auto ours = DnnlDense({batch, in}, type);
      const auto plain = DnnlDense({batch, in}, ElementType::kF32);
      value = {context, ours, plain};
      gradient = {context, ours, plain};
    }
    size_t width;
    DnnlArray value, gradient;
  };

  struct Inputs {
    const float *first, *second;
    size_t first_width, second_width;

    float At(size_t sample, size_t i) const {
      return i < first_width ? first[sample * first_width + i]
                             : second[sample * second_width + i - first_width];
    }
  };

  Inputs Read(const void* first, const void* second) {
    const auto floats = [&](Side& side, const void* data) {
      return static_cast<const float*>(side.value.In(context_, data).get_data_handle());
    };
    return {floats(x_[0], first), floats(x_[1], second), x_[0].width, x_[1].width};
  }

  void VariablesBackward(const FactorisationArrays<const float>& variables, const Inputs& x,
                         const float* dy, const FactorisationArrays<float>& gradients) {
    *gradients.bias = 0;
    for (size_t sample = 0; sample < batch_; ++sample) *gradients.bias += dy[sample];
    context_.team.For(in_, [&](size_t i) {
      const float* const row = variables.factors + i * factors_;
      float* const d_row = gradients.factors + i * factors_;
      std::fill_n(d_row, factors_, 0.0F);
      float d_weight = 0;
      for (size_t sample = 0; sample < batch_; ++sample) {
        const float value = x.At(sample, i), slope = dy[sample] * value;
        d_weight += slope;
        for (size_t f = 0; f < factors_; ++f) {
          d_row[f] += slope * (sums_[sample * factors_ + f] - row[f] * value);
        }
      }
      gradients.weights[i] = d_weight;
    });
  }

  const CpuContext& context_;
  const size_t batch_, in_, factors_;
  Side x_[2];
  std::vector<float> sums_;  // of factors[i][f] x_i: (batch, factors), from the last Forward()
};

}  // namespace

std::unique_ptr<Factorisation> MakeCpuFactorisation(const CpuContext& context,
                                                    const FactorisationSpec& spec) {
  return WithDnnl("a factorisation machine",
                  [&] { return std::make_unique<CpuFactorisation>(context, spec); });
}

}  // namespace recpack::train
