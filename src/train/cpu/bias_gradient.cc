#include "src/train/cpu/bias_gradient.h"

#include <algorithm>

namespace recpack::train {
namespace {

constexpr uint16_t kOneInBf16 = 0x3f80;

}  // namespace

BiasGradient::BiasGradient(const CpuContext& context, int64_t pixels, int64_t channels,
                           ValueType type)
    : ones_(DnnlDense({1, pixels}, type), context.engine),
      dy_(DnnlDense({pixels, channels}, type), context.engine, nullptr),
      sums_(DnnlDense({1, channels}, ValueType::kF32), context.engine, nullptr) {
  product_ = dnnl::matmul(dnnl::matmul::primitive_desc(context.engine, ones_.get_desc(),
                                                       dy_.get_desc(), sums_.get_desc()));
  if (type == ValueType::kBf16) {
    std::fill_n(static_cast<uint16_t*>(ones_.get_data_handle()), pixels, kOneInBf16);
  } else {
    std::fill_n(static_cast<float*>(ones_.get_data_handle()), pixels, 1.0F);
  }
}

void BiasGradient::Run(const CpuContext& context, const void* dy, float* d_bias) {
  dy_.set_data_handle(const_cast<void*>(dy));
  sums_.set_data_handle(d_bias);
  product_.execute(context.stream,
                   {{DNNL_ARG_SRC, ones_}, {DNNL_ARG_WEIGHTS, dy_}, {DNNL_ARG_DST, sums_}});
}

}  // namespace recpack::train
