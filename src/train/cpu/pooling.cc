#include "src/train/cpu/not_a_number.h"
#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

using dnnl::memory;
using Forwards = dnnl::pooling_forward;
using Backwards = dnnl::pooling_backward;

class CpuPooling final : public Pooling {
 public:
  CpuPooling(const CpuContext& context, const PoolingSpec& spec) : context_(context), spec_(spec) {
    const auto algorithm = spec.kind == PoolingKind::kMax
                               ? dnnl::algorithm::pooling_max
                               : dnnl::algorithm::pooling_avg_exclude_padding;
    const memory::dims window = {spec.window_height, spec.window_width};
    const memory::dims strides = {spec.stride, spec.stride}, none = {0, 0};
    const memory::dims pad = {spec.pad, spec.pad};
    const memory::dims end_pad = {spec.end_pad_height(), spec.end_pad_width()};
    const auto x =
        DnnlPicture({spec.batch, spec.channels, spec.height, spec.width}, spec.type, spec.layout);
    const auto y = DnnlPicture(spec.out_shape(), spec.type, spec.layout);
    const auto& engine = context.engine;
    const Forwards::primitive_desc forward(engine, dnnl::prop_kind::forward_training, algorithm, x,
                                           y, strides, window, none, pad, end_pad);
    const Backwards::primitive_desc backward(engine, algorithm, x, y, strides, window, none, pad,
                                             end_pad, forward);
    forward_ = Forwards(forward);
    backward_ = Backwards(backward);
    x_ = memory(x, engine, nullptr);
    y_ = memory(y, engine, nullptr);
    if (IsMax()) workspace_ = memory(forward.workspace_desc(), engine);
  }

  void Forward(const void* x, void* y) override {
    x_.set_data_handle(const_cast<void*>(x));
    y_.set_data_handle(y);
    Execute(forward_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DST, y_}});
    // oneDNN's maximum ignores NaN.
    const auto count =
        static_cast<size_t>(spec_.batch * spec_.channels * spec_.height * spec_.width);
    if (IsMax() && HasNotANumber(context_.team, spec_.type, x, count)) KeepNotANumber(spec_, x, y);
  }

  void Backward(const void* dy, void* dx) override {
    x_.set_data_handle(dx);
    y_.set_data_handle(const_cast<void*>(dy));
    Execute(backward_, {{DNNL_ARG_DIFF_DST, y_}, {DNNL_ARG_DIFF_SRC, x_}});
  }

 private:
  bool IsMax() const { return spec_.kind == PoolingKind::kMax; }
  void Execute(const dnnl::primitive& primitive, std::unordered_map<int, memory> arguments) {
    if (IsMax()) arguments.emplace(DNNL_ARG_WORKSPACE, workspace_);
    primitive.execute(context_.stream, arguments);
  }

  const CpuContext& context_;
  const PoolingSpec spec_;
  Forwards forward_;
  Backwards backward_;
  memory x_, y_, workspace_;
};

}  // namespace

std::unique_ptr<Pooling> MakeCpuPooling(const CpuContext& context, const PoolingSpec& spec) {
  return WithDnnl("a pooling layer", [&] { return std::make_unique<CpuPooling>(context, spec); });
}

}  // namespace recpack::train
