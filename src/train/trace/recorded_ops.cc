#include "src/train/trace/recorded_ops.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "recpack/base/event_log.h"
#include "src/train/ops/forwarding_ops.h"

namespace recpack::train {
namespace {

// Tells whether the log's readers asked for an event of each operation (docs/format/events.md).
bool AskedForOperations() {
  const char* detail = std::getenv("RECPACK_EVENTS_DETAIL");
  return detail != nullptr && std::string_view(detail) == "operations";
}

// The events of one operation.
class Recorder {
 public:
  Recorder(uint16_t device, const std::string& operation, const std::string& layer = {})
      : log_(EventLog::OfProcess()),
        event_{.kind = EventKind::kDevice,
               .device = device,
               .name = log_->Name(layer.empty() ? operation : operation + " " + layer)} {}

  // The event lasts as long as the result.
  EventSpan Record() const noexcept {
    Event event = event_;
    event.lane = EventLog::ThreadLane();
    return {log_, event};
  }

 private:
  EventLog* const log_;
  const Event event_;
};

// For Convolution and Dense, which have weights and a bias.
template <typename Layer>
class RecordedLayer final : public Layer {
 public:
  RecordedLayer(uint16_t device, std::unique_ptr<Layer> inner, const std::string& operation,
                const std::string& layer)
      : inner_(std::move(inner)),
        weights_(device, "layout change", layer + ".weight"),
        forward_(device, operation + " forward", layer),
        data_(device, operation + " backward data", layer),
        gradient_(device, operation + " backward weights", layer) {}

  void SetWeights(const float* weights, const float* bias) override {
    const EventSpan span = weights_.Record();
    inner_->SetWeights(weights, bias);
  }
  void Forward(const void* x, void* y) override {
    const EventSpan span = forward_.Record();
    inner_->Forward(x, y);
  }
  void BackwardData(const void* dy, void* dx) override {
    const EventSpan span = data_.Record();
    inner_->BackwardData(dy, dx);
  }
  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    const EventSpan span = gradient_.Record();
    inner_->BackwardWeights(x, dy, d_weights, d_bias);
  }

 private:
  const std::unique_ptr<Layer> inner_;
  const Recorder weights_, forward_, data_, gradient_;
};

class RecordedNorm final : public BatchNorm {
 public:
  RecordedNorm(uint16_t device, std::unique_ptr<BatchNorm> inner, const std::string& layer)
      : inner_(std::move(inner)),
        forward_(device, "normalisation forward", layer),
        backward_(device, "normalisation backward", layer) {}

  void Train(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    const EventSpan span = forward_.Record();
    inner_->Train(variables, x, residual, y);
  }
  void Infer(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    const EventSpan span = forward_.Record();
    inner_->Infer(variables, x, residual, y);
  }
  void Backward(const BatchNormVariables& variables, void* dy, const void* dy_more, const void* x,
                const void* y, void* dx, void* d_residual, float* d_scale,
                float* d_shift) override {
    const EventSpan span = backward_.Record();
    inner_->Backward(variables, dy, dy_more, x, y, dx, d_residual, d_scale, d_shift);
  }

 private:
  const std::unique_ptr<BatchNorm> inner_;
  const Recorder forward_, backward_;
};

class RecordedPooling final : public Pooling {
 public:
  RecordedPooling(uint16_t device, std::unique_ptr<Pooling> inner, const std::string& layer)
      : inner_(std::move(inner)),
        forward_(device, "pooling forward", layer),
        backward_(device, "pooling backward", layer) {}

  void Forward(const void* x, void* y) override {
    const EventSpan span = forward_.Record();
    inner_->Forward(x, y);
  }
  void Backward(const void* dy, void* dx) override {
    const EventSpan span = backward_.Record();
    inner_->Backward(dy, dx);
  }

 private:
  const std::unique_ptr<Pooling> inner_;
  const Recorder forward_, backward_;
};

class RecordedEmbedding final : public Embedding {
 public:
  RecordedEmbedding(uint16_t device, std::unique_ptr<Embedding> inner, const std::string& layer)
      : inner_(std::move(inner)),
        forward_(device, "embedding forward", layer),
        backward_(device, "embedding backward", layer) {}

  void Forward(const void* ids, const float* table, void* y, LossSums* sums) override {
    const EventSpan span = forward_.Record();
    inner_->Forward(ids, table, y, sums);
  }
  void Backward(const void* ids, const void* dy, float* d_table, bool add) override {
    const EventSpan span = backward_.Record();
    inner_->Backward(ids, dy, d_table, add);
  }

 private:
  const std::unique_ptr<Embedding> inner_;
  const Recorder forward_, backward_;
};

class RecordedFactorisation final : public Factorisation {
 public:
  RecordedFactorisation(uint16_t device, std::unique_ptr<Factorisation> inner,
                        const std::string& layer)
      : inner_(std::move(inner)),
        forward_(device, "factorisation forward", layer),
        backward_(device, "factorisation backward", layer) {}

  void Forward(const FactorisationArrays<const float>& variables, const void* first,
               const void* second, float* y) override {
    const EventSpan span = forward_.Record();
    inner_->Forward(variables, first, second, y);
  }
  void Backward(const FactorisationArrays<const float>& variables, const void* first,
                const void* second, const float* dy, void* d_first, void* d_second,
                const FactorisationArrays<float>& gradients) override {
    const EventSpan span = backward_.Record();
    inner_->Backward(variables, first, second, dy, d_first, d_second, gradients);
  }

 private:
  const std::unique_ptr<Factorisation> inner_;
  const Recorder forward_, backward_;
};

class RecordedOps final : public ForwardingOps {
 public:
  RecordedOps(std::unique_ptr<Ops> ops, uint16_t device)
      : ForwardingOps(std::move(ops)), device_(device) {}

  bool RecordsOperations() const noexcept override { return true; }

  void Copy(void* to, const void* from, size_t bytes) override {
    const EventSpan span = copy_.Record();
    inner().Copy(to, from, bytes);
  }

  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) override {
    return std::make_unique<RecordedLayer<Convolution>>(device_, inner().MakeConvolution(spec),
                                                        "convolution", spec.name);
  }
  std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) override {
    return std::make_unique<RecordedLayer<Dense>>(device_, inner().MakeDense(spec),
                                                  "matrix product", spec.name);
  }
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) override {
    return std::make_unique<RecordedNorm>(device_, inner().MakeBatchNorm(spec), spec.name);
  }
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) override {
    return std::make_unique<RecordedPooling>(device_, inner().MakePooling(spec), spec.name);
  }
  std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) override {
    return std::make_unique<RecordedEmbedding>(device_, inner().MakeEmbedding(spec), spec.name);
  }
  std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) override {
    return std::make_unique<RecordedFactorisation>(device_, inner().MakeFactorisation(spec),
                                                   spec.name);
  }

  void Activate(Activation activation, const Tensor& x, const Tensor& y) override {
    const EventSpan span = activate_.Record();
    inner().Activate(activation, x, y);
  }
  void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                        const Tensor& dx) override {
    const EventSpan span = activate_backward_.Record();
    inner().ActivateBackward(activation, y, dy, dx);
  }
  void Add(const Tensor& x, const Tensor& to) override {
    const EventSpan span = add_.Record();
    inner().Add(x, to);
  }
  void Concatenate(std::span<const Tensor> parts, const Tensor& whole) override {
    const EventSpan span = concatenate_.Record();
    inner().Concatenate(parts, whole);
  }
  void CopyRows(void* to, const void* from, const RowCopy& rows) override {
    const EventSpan span = copy_rows_.Record();
    inner().CopyRows(to, from, rows);
  }
  void Convert(const Tensor& from, const Tensor& to) override {
    const EventSpan span = convert_.Record();
    inner().Convert(from, to);
  }
  void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                           float scale, float* d_logits, LossSums* sums) override {
    const EventSpan span = cross_entropy_.Record();
    inner().SoftmaxCrossEntropy(logits, labels, mask, scale, d_logits, sums);
  }
  void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                    float scale, float* d_predictions, LossSums* sums) override {
    const EventSpan span = squared_error_.Record();
    inner().SquaredError(predictions, targets, mask, scale, d_predictions, sums);
  }
  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    const EventSpan span = sgd_.Record();
    inner().Sgd(update, value, gradient, velocity, count);
  }
  void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
            float* second, size_t count) override {
    const EventSpan span = adam_.Record();
    inner().Adam(update, value, gradient, first, second, count);
  }

 private:
  const uint16_t device_;
  const Recorder copy_{device_, "copy"};
  const Recorder copy_rows_{device_, "layout change rows"};
  const Recorder concatenate_{device_, "layout change concatenation"};
  const Recorder activate_{device_, "activation forward"};
  const Recorder activate_backward_{device_, "activation backward"};
  const Recorder add_{device_, "elementwise addition"};
  const Recorder convert_{device_, "conversion of type or layout"};
  const Recorder cross_entropy_{device_, "loss softmax cross entropy"};
  const Recorder squared_error_{device_, "loss squared error"};
  const Recorder sgd_{device_, "optimiser SGD"};
  const Recorder adam_{device_, "optimiser Adam"};
};

}  // namespace

std::unique_ptr<Ops> RecordOperations(std::unique_ptr<Ops> ops, uint16_t device) {
  const bool wanted = AskedForOperations() && EventLog::OfProcess() != nullptr;
  if (!wanted || ops->Stream() != nullptr) return ops;
  return std::make_unique<RecordedOps>(std::move(ops), device);
}

}  // namespace recpack::train
