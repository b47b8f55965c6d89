#include "src/train/cpu/cpu_ops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <limits>
#include <new>

#include "recpack/base/cpu.h"
#include "recpack/base/out_of_memory.h"
#include "src/base/format.h"
#include "src/train/cpu/onednn.h"
#include "src/train/cpu/relu.h"

namespace recpack::train {
namespace {

using dnnl::algorithm;
using dnnl::memory;

constexpr size_t kAlignment = 256;
constexpr size_t kElementsAtATime = 16384;  // per thread, in updates

// Loss of one sample.
struct SampleLoss {
  double loss;
  bool correct;
};

// -log(softmax(logits)[label]). If `gradient` is not null, stores scale times the derivative by the
// logits.
SampleLoss SoftmaxLoss(const float* logits, int64_t classes, int64_t label, float scale,
                       float* gradient) {
  const float* largest = std::max_element(logits, logits + classes);
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(logits[k] - *largest));
  if (gradient) {
    for (int64_t k = 0; k < classes; ++k) {
      const double share = std::exp(static_cast<double>(logits[k] - *largest)) / sum;
      gradient[k] = static_cast<float>(scale * (share - (k == label ? 1 : 0)));
    }
  }
  return {std::log(sum) - (logits[label] - *largest), largest - logits == label};
}

algorithm ToAlgorithm(Activation activation) {
  return activation == Activation::kRelu ? algorithm::eltwise_relu_use_dst_for_bwd
                                         : algorithm::eltwise_tanh_use_dst_for_bwd;
}

// According to the documentation of oneDNN for data types on x64.
bool HasBf16() {
  const auto has = [now = static_cast<unsigned>(dnnl::get_effective_cpu_isa())](dnnl::cpu_isa isa) {
    return (now & static_cast<unsigned>(isa)) == static_cast<unsigned>(isa);
  };
  return has(dnnl::cpu_isa::avx512_core) || has(dnnl::cpu_isa::avx2_vnni_2);
}

// The variables that GNU OpenMP reads, where they are set; and those of other OpenMPs, which it
// ignores.
std::string OpenMpSettings() {
  std::string text;
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY",
                           "OMP_DYNAMIC", "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY"}) {
    if (const char* value = std::getenv(name)) text += format(", {}={}", name, value);
  }
  for (const char* name : {"KMP_AFFINITY", "KMP_BLOCKTIME", "KMP_SETTINGS"}) {
    if (std::getenv(name)) text += format(", {} has no effect on GNU OpenMP", name);
  }
  return text;
}

class CpuOps final : public Ops {
 public:
  explicit CpuOps(const CpuOptions& options) : context_(MakeContext(options)) {}

  std::string Describe() const override {
    const dnnl_version_t& version = *dnnl_version();
    std::string text = format("CPU: oneDNN {}.{}.{}, {} threads", version.major, version.minor,
                              version.patch, context_.team.threads());
    const char* before = ", bound to processor ";
    for (const int processor : context_.team.processors()) {
      text += before + std::to_string(processor);
      before = ", ";
    }
    return text + OpenMpSettings();
  }
  bool Computes(ElementType type) const override { return type != ElementType::kBf16 || HasBf16(); }
  void Attach() override { context_.team.Attach(); }

  void Upload(void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }
  void Download(void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }
  void Copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);  // with no bytes, pointers may be null
  }
  void Zero(void* to, size_t bytes) override {
    if (bytes > 0) std::memset(to, 0, bytes);
  }
  void Synchronise() override {}

  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) override {
    return MakeCpuConvolution(context_, spec);
  }
  std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) override {
    return MakeCpuDense(context_, spec);
  }
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) override {
    return MakeCpuBatchNorm(*this, context_, spec);
  }
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) override {
    return MakeCpuPooling(context_, spec);
  }

  void Activate(Activation activation, const Tensor& x, const Tensor& y) override {
    if (activation == Activation::kRelu) return Relu(context_.team, x, y);
    const auto desc = Flat(x);
    const dnnl::eltwise_forward::primitive_desc forward(
        context_.engine, dnnl::prop_kind::forward_training, ToAlgorithm(activation), desc, desc);
    dnnl::eltwise_forward(forward).execute(
        context_.stream, {{DNNL_ARG_SRC, ToMemory(x)}, {DNNL_ARG_DST, ToMemory(y)}});
  }

  void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                        const Tensor& dx) override {
    const auto desc = Flat(y);
    const auto kind = ToAlgorithm(activation);
    const dnnl::eltwise_forward::primitive_desc forward(
        context_.engine, dnnl::prop_kind::forward_training, kind, desc, desc);
    const dnnl::eltwise_backward::primitive_desc backward(context_.engine, kind, desc, desc, desc,
                                                          forward);
    dnnl::eltwise_backward(backward).execute(context_.stream, {{DNNL_ARG_DST, ToMemory(y)},
                                                               {DNNL_ARG_DIFF_DST, ToMemory(dy)},
                                                               {DNNL_ARG_DIFF_SRC, ToMemory(dx)}});
  }

  void Add(const Tensor& x, const Tensor& to) override {
    const auto desc = Flat(to);
    const dnnl::binary::primitive_desc add(context_.engine, algorithm::binary_add, desc, Flat(x),
                                           desc);
    dnnl::binary(add).execute(context_.stream, {{DNNL_ARG_SRC_0, ToMemory(to)},
                                                {DNNL_ARG_SRC_1, ToMemory(x)},
                                                {DNNL_ARG_DST, ToMemory(to)}});
  }

  void CopyRows(void* to, const void* from, const RowCopy& rows) override {
    context_.team.For(rows.count, [&](size_t i) {
      std::memcpy(static_cast<uint8_t*>(to) + i * rows.to_pitch,
                  static_cast<const uint8_t*>(from) + i * rows.from_pitch, rows.bytes);
    });
  }

  void Convert(const Tensor& from, const Tensor& to) override {
    const auto desc = [](const Tensor& tensor) {
      return tensor.shape.size() == 4 ? DnnlPicture(tensor.shape, tensor.type, tensor.layout)
                                      : DnnlDense(tensor.shape, tensor.type);
    };
    memory source(desc(from), context_.engine, from.data);
    memory target(desc(to), context_.engine, to.data);
    dnnl::reorder(source, target).execute(context_.stream, source, target);
  }

  void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                           float scale, float* d_logits, LossSums* sums) override {
    const int64_t batch = logits.shape[0], classes = logits.shape[1];
    double loss = 0;
    int64_t correct = 0, samples = 0, bad = 0;
    for (int64_t i = 0; i < batch; ++i) {
      float* gradient = d_logits ? d_logits + i * classes : nullptr;
      const bool known = labels[i] >= 0 && labels[i] < classes;
      const bool counts = !mask || mask[i];
      if (!known || !counts) {
        if (gradient) std::fill_n(gradient, classes, 0.0F);
        if (counts) ++bad;
        continue;
      }
      const SampleLoss sample =
          SoftmaxLoss(logits.As<float>() + i * classes, classes, labels[i], scale, gradient);
      loss += sample.loss;
      correct += sample.correct;
      ++samples;
    }
    *sums = {static_cast<float>(loss), static_cast<float>(correct), static_cast<float>(samples),
             static_cast<float>(bad)};
  }

  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    const float rate = update.rates ? update.rates->rate : update.rate;
    ForElements(count, [=](size_t i) {
      const float step = update.momentum * velocity[i] + (gradient[i] + update.decay * value[i]);
      velocity[i] = step;
      value[i] -= rate * step;
    });
  }

  void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
            float* second, size_t count) override {
    const UpdateRates rates = update.rates ? *update.rates : ToRates(update);
    ForElements(count, [=](size_t i) {
      const float g = gradient[i];
      first[i] = update.beta1 * first[i] + (1 - update.beta1) * g;
      second[i] = update.beta2 * second[i] + (1 - update.beta2) * g * g;
      const float size = std::sqrt(second[i] * rates.correction) + update.epsilon;
      value[i] -= rates.corrected * first[i] / size + rates.rate * update.decay * value[i];
    });
  }

  std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) override {
    return MakeCpuEmbedding(context_, spec);
  }
  std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) override {
    return MakeCpuFactorisation(context_, spec);
  }

  void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                    float scale, float* d_predictions, LossSums* sums) override {
    double loss = 0;
    int64_t samples = 0;
    for (int64_t i = 0; i < predictions.elements(); ++i) {
      const bool counts = !mask || mask[i];
      const float error = counts ? predictions.As<float>()[i] - targets[i] : 0;
      if (d_predictions) d_predictions[i] = 2 * scale * error;
      loss += static_cast<double>(error) * error;
      samples += counts;
    }
    *sums = {static_cast<float>(loss), 0, static_cast<float>(samples), sums->bad_labels};
  }

 private:
  static CpuContext MakeContext(const CpuOptions& options) {
    return WithDnnl("an engine", [&] {
      const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
      const int threads = options.threads ? options.threads : AvailableThreads();
      return CpuContext{engine, dnnl::stream(engine), Team(threads, options.processors)};
    });
  }

  // For elementwise operations, independent of the layout.
  static memory::desc Flat(const Tensor& tensor) {
    return DnnlDense({tensor.elements()}, tensor.type);
  }
  memory ToMemory(const Tensor& tensor) const {
    return {Flat(tensor), context_.engine, tensor.data};
  }

  template <typename Body>
  void ForElements(size_t count, const Body& body) const {
    context_.team.For((count + kElementsAtATime - 1) / kElementsAtATime, [&](size_t part) {
      const size_t begin = part * kElementsAtATime;
      const size_t end = std::min(count, begin + kElementsAtATime);
      for (size_t i = begin; i < end; ++i) body(i);
    });
  }

  void* AllocateBytes(size_t bytes) override {
    const size_t blocks = bytes / kAlignment + 1;  // at most one more than needed
    const bool fits = blocks <= std::numeric_limits<size_t>::max() / kAlignment;
    void* memory = fits ? std::aligned_alloc(kAlignment, blocks * kAlignment) : nullptr;
    if (!memory) {
      throw OutOfMemory(format("the CPU has no memory for {} more bytes", bytes),
                        "use a smaller --batch-size or model");
    }
    return memory;
  }
  void FreeBytes(void* memory) noexcept override { std::free(memory); }

  CpuContext context_;
};

}  // namespace

std::unique_ptr<Ops> MakeCpuOps(const CpuOptions& options) {
  return std::make_unique<CpuOps>(options);
}

}  // namespace recpack::train
