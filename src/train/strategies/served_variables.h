// Client of a parameter server, for one device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/train/strategies/bucket_queue.h"
#include "src/train/strategies/parameter_server.h"

namespace recpack::train {

// On a device with a stream, a background thread sends gradients during the backward pass, and
// variables arrive on a separate stream; only the work that reads a variable waits for it.
class ServedVariables final : public VariableStrategy {
 public:
  ServedVariables(std::shared_ptr<ParameterServer> server, size_t device)
      : server_(std::move(server)), device_(device) {}
  // The keepers may still read memory of this object.
  ~ServedVariables() override { server_->Stop(); }

  int slots() const override { return 0; }
  void Start(Ops& ops, Variables& variables) override;
  void BeginStep(const UpdateStep& step) override;
  void Need(size_t variable) override { Pull(variable, step_); }
  void BeginBackward(size_t) override {
    if (queue_) queue_->BeginBackward();
  }
  void Ready(size_t variable) override;
  void EndStep() override;
  void Settle() override;
  void ReadSlot(size_t slot, size_t variable, float* to) override {
    server_->ReadSlot(slot, variable, to);
  }
  void WriteSlot(size_t slot, size_t variable, const float* from) override {
    server_->WriteSlot(slot, variable, from);
  }
  void VariablesSet() override;
  void Abort(const std::string& reason) noexcept override { server_->Abort(reason); }

 private:
  size_t Bytes(size_t variable) const { return variables_->size(variable) * sizeof(float); }
  void Count(size_t variable) {
    ++account_.calls;
    account_.bytes += Bytes(variable);
  }
  void Pull(size_t variable, uint64_t updates);
  double PushFromHost(size_t variable);
  void PushFromDevice(size_t bucket);
  void Take(size_t variable, const float* host, const float* there);

  const std::shared_ptr<ParameterServer> server_;
  const size_t device_;
  Ops* ops_ = nullptr;
  Variables* variables_ = nullptr;
  std::vector<float> sent_;        // for a device without a stream: gradients as sent
  std::shared_ptr<void> staging_;  // host buffer for variables in transfer
  std::unique_ptr<ExchangeStream> down_;
  std::optional<BucketQueue> queue_;
  UpdateStep update_;
  uint64_t step_ = 0;
};

}  // namespace recpack::train
