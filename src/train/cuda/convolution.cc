#include <array>
#include <optional>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cuda/bias.h"
#include "src/train/cuda/descriptors.h"

namespace recpack::train {
namespace {

constexpr size_t kMostWorkspace = size_t{512} << 20;  // per algorithm
constexpr int kCandidates = 16;                       // more than cuDNN has

// A cuDNN algorithm for one direction of a convolution.
template <typename Algorithm>
struct Way {
  CudnnConvolution convolution;
  Algorithm algorithm = {};
  size_t workspace = 0;
  std::optional<Error> missing = {};  // why there is none

  const Way& Checked() const {
    if (missing) throw Error(*missing);
    return *this;
  }
};

// Products use f32 inputs as they are, or rounded to TF32.
cudnnMathType_t FirstMath(const CudaContext& context, ElementType type) {
  if (type != ElementType::kF32) return CUDNN_TENSOR_OP_MATH;
  return context.tf32() ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

// Chooses the first of cuDNN's heuristics that is deterministic and within the workspace limit.
// ask(convolution, room, &count, candidates) and size(convolution, algorithm, &bytes) call cuDNN.
template <typename Candidate, typename Ask, typename Size>
auto Choose(CudaContext& context, const ConvolutionSpec& spec, const char* what, const Ask& ask,
            const Size& size) {
  using Algorithm = decltype(Candidate::algo);
  const CudaLibraries& all = context.libraries();
  const auto set_math = [&](const CudnnConvolution& convolution, cudnnMathType_t math) {
    Check(all, all.cudnn.SetConvolutionMathType(convolution.get(), math),
          "cudnnSetConvolutionMathType");
  };
  const cudnnMathType_t math = FirstMath(context, spec.type);
  Way<Algorithm> way{MakeCudnnConvolution(context, spec)};
  set_math(way.convolution, math);
  std::array<Candidate, kCandidates> candidates = {};
  int count = 0;
  const cudnnStatus_t asked = ask(way.convolution.get(), kCandidates, &count, candidates.data());
  // A first layer needs no input gradient: a missing algorithm is reported when it is used.
  if (CUDNN_STATUS_CATEGORY(asked) == CUDNN_STATUS_NOT_SUPPORTED) {
    count = 0;
  } else {
    Check(all, asked, what);
  }
  for (int i = 0; i < count; ++i) {
    const Candidate& candidate = candidates[static_cast<size_t>(i)];
    if (candidate.status != CUDNN_STATUS_SUCCESS || candidate.determinism != CUDNN_DETERMINISTIC) {
      continue;
    }
    // Requests FMA if the candidate would round inputs that must not be rounded.
    set_math(way.convolution, math == CUDNN_FMA_MATH ? math : candidate.mathType);
    size_t bytes = 0;
    if (size(way.convolution.get(), candidate.algo, &bytes) != CUDNN_STATUS_SUCCESS ||
        bytes > kMostWorkspace) {
      continue;
    }
    way.algorithm = candidate.algo;
    way.workspace = bytes;
    context.ReserveOnEither(bytes);
    return way;
  }
  way.missing =
      Error(ErrorKind::kUnsupported,
            format("{}: cuDNN has none that is deterministic, of at most {} MB of "
                   "workspace, for {} by {}, {} {}",
                   what, kMostWorkspace >> 20, ShapeText(spec.in_shape()),
                   ShapeText(spec.weight_shape()), spec.type == ElementType::kF32 ? "f32" : "bf16",
                   spec.layout == ImageLayout::kNhwc ? "NHWC" : "NCHW"),
            {}, "choose the other layout, f32 or a smaller batch");
  return way;
}

class CudaConvolution final : public Convolution {
 public:
  CudaConvolution(CudaContext& context, const ConvolutionSpec& spec)
      : context_(context),
        cudnn_(context.libraries().cudnn),
        spec_(spec),
        x_(MakeCudnnTensor(context, spec.in_shape(), spec.type, spec.layout)),
        y_(MakeCudnnTensor(context, spec.out_shape(), spec.type, spec.layout)),
        w_(MakeCudnnFilter(context, spec.weight_shape(), spec.type, spec.layout)),
        forward_(ChooseForward(context)),
        data_(ChooseData(context)),
        filter_(ChooseFilter(context)),
        weights_(Weights(nullptr, spec.type, spec.layout).bytes()),
        d_weights_(Weights(nullptr, spec.type, spec.layout).bytes()) {
    if (!spec.bias) return;
    bias_.emplace(context, ByChannel{spec.batch, spec.out_channels,
                                     spec.out_height() * spec.out_width(), spec.type, spec.layout});
  }

  void SetWeights(const float* weights, const float* bias) override {
    bias_values_ = bias;
    LaunchConvert(Weights(const_cast<float*>(weights), ElementType::kF32, ImageLayout::kNchw),
                  Weights(weights_.data(), spec_.type, spec_.layout), context_.stream());
  }

  void Forward(const void* x, void* y) override {
    const auto& way = forward_.Checked();
    CheckCall(
        cudnn_.ConvolutionForward(context_.cudnn(), &kOne, x_.get(), x, w_.get(), weights_.data(),
                                  way.convolution.get(), way.algorithm, context_.Workspace<void>(),
                                  way.workspace, &kZero, y_.get(), y),
        "cudnnConvolutionForward");
    if (bias_ && bias_values_) bias_->Add(bias_values_, y);
  }

  void BackwardData(const void* dy, void* dx) override {
    const auto& way = data_.Checked();
    CheckCall(cudnn_.ConvolutionBackwardData(context_.cudnn(), &kOne, w_.get(), weights_.data(),
                                             y_.get(), dy, way.convolution.get(), way.algorithm,
                                             context_.Workspace<void>(), way.workspace, &kZero,
                                             x_.get(), dx),
              "cudnnConvolutionBackwardData");
  }

  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    const auto& way = filter_.Checked();
    CheckCall(cudnn_.ConvolutionBackwardFilter(context_.cudnn(), &kOne, x_.get(), x, y_.get(), dy,
                                               way.convolution.get(), way.algorithm,
                                               context_.Workspace<void>(), way.workspace, &kZero,
                                               w_.get(), d_weights_.data()),
              "cudnnConvolutionBackwardFilter");
    LaunchConvert(Weights(d_weights_.data(), spec_.type, spec_.layout),
                  Weights(d_weights, ElementType::kF32, ImageLayout::kNchw), context_.stream());
    if (bias_ && d_bias) bias_->Gradient(dy, d_bias);
  }

 private:
  static constexpr float kOne = 1, kZero = 0;

  void CheckCall(cudnnStatus_t status, const char* call) const {
    Check(context_.libraries(), status, call);
  }

  // As a tensor: OIHW, or OHWI for NHWC images.
  Tensor Weights(void* data, ElementType type, ImageLayout layout) const {
    return {data, type, spec_.weight_shape(), layout};
  }

  Way<cudnnConvolutionFwdAlgo_t> ChooseForward(CudaContext& context) const {
    return Choose<cudnnConvolutionFwdAlgoPerf_t>(
        context, spec_, "cudnnGetConvolutionForwardAlgorithm_v7",
        [&](auto convolution, int room, int* count, auto* candidates) {
          return cudnn_.GetConvolutionForwardAlgorithm(
              context.cudnn(), x_.get(), w_.get(), convolution, y_.get(), room, count, candidates);
        },
        [&](auto convolution, auto algorithm, size_t* bytes) {
          return cudnn_.GetConvolutionForwardWorkspaceSize(context.cudnn(), x_.get(), w_.get(),
                                                           convolution, y_.get(), algorithm, bytes);
        });
  }

  Way<cudnnConvolutionBwdDataAlgo_t> ChooseData(CudaContext& context) const {
    return Choose<cudnnConvolutionBwdDataAlgoPerf_t>(
        context, spec_, "cudnnGetConvolutionBackwardDataAlgorithm_v7",
        [&](auto convolution, int room, int* count, auto* candidates) {
          return cudnn_.GetConvolutionBackwardDataAlgorithm(
              context.cudnn(), w_.get(), y_.get(), convolution, x_.get(), room, count, candidates);
        },
        [&](auto convolution, auto algorithm, size_t* bytes) {
          return cudnn_.GetConvolutionBackwardDataWorkspaceSize(
              context.cudnn(), w_.get(), y_.get(), convolution, x_.get(), algorithm, bytes);
        });
  }

  Way<cudnnConvolutionBwdFilterAlgo_t> ChooseFilter(CudaContext& context) const {
    return Choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
        context, spec_, "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
        [&](auto convolution, int room, int* count, auto* candidates) {
          return cudnn_.GetConvolutionBackwardFilterAlgorithm(
              context.cudnn(), x_.get(), y_.get(), convolution, w_.get(), room, count, candidates);
        },
        [&](auto convolution, auto algorithm, size_t* bytes) {
          return cudnn_.GetConvolutionBackwardFilterWorkspaceSize(
              context.cudnn(), x_.get(), y_.get(), convolution, w_.get(), algorithm, bytes);
        });
  }

  const CudaContext& context_;
  const decltype(CudaLibraries::cudnn)& cudnn_;
  const ConvolutionSpec spec_;
  const CudnnTensor x_, y_;  // also for their gradients
  const CudnnFilter w_;      // also for its gradient
  const Way<cudnnConvolutionFwdAlgo_t> forward_;
  const Way<cudnnConvolutionBwdDataAlgo_t> data_;
  const Way<cudnnConvolutionBwdFilterAlgo_t> filter_;
  CudaArray weights_, d_weights_;
  const float* bias_values_ = nullptr;
  std::optional<CudaBias> bias_;
};

}  // namespace

std::unique_ptr<Convolution> MakeCudaConvolution(CudaContext& context,
                                                 const ConvolutionSpec& spec) {
  return std::make_unique<CudaConvolution>(context, spec);
}

}  // namespace recpack::train
