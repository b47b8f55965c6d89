// Variables that are kept in one place, or spread over several, and updated there.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/train/optimizer.h"

namespace recpack {

struct ParameterServerOptions {
  OptimizerOptions optimizer;
  size_t devices = 1;  // that send gradients
  bool async = false;  // each gradient is an update of its own, as soon as it comes
  // What keeps the variables: each has a thread and memory of its own; variables are dealt to them
  // so that they hold about equally much.
  std::vector<std::function<std::unique_ptr<Ops>()>> keepers;
};

// Shared by the strategies of all devices. A variable is updated once the gradients of all devices
// are there, added up in the devices' order, while backward passes and the next step's forward
// passes go on.
class ParameterServer {
 public:
  explicit ParameterServer(ParameterServerOptions options);
  ~ParameterServer();

  const ParameterServerOptions& options() const noexcept { return options_; }

  // Once for all: the variables of the device that comes first are where it begins; those of all
  // devices are the same, of the same seed.
  void Start(const Variables& variables, Ops& ops);

  // Sends the gradient of a device, for this update. Waits where the one
  // before it was not used yet. Returns the seconds it waited.
  double Push(size_t device, size_t variable, const UpdateStep& step,
              const std::function<void(float* to)>& download);

  // Copies the variable to `to` once it was updated `updates` times; async: as it is. Returns the
  // seconds it waited.
  double Pull(size_t variable, uint64_t updates, const std::function<void(const float*)>& upload);

  // Before the first push, or while none is under way.
  void SetValue(size_t variable, const std::function<void(float* to)>& download);
  void ReadSlot(size_t slot, size_t variable, float* to);
  void WriteSlot(size_t slot, size_t variable, const float* from);

  // Pushes and pulls that wait, and those that come, throw the reason.
  void Abort(const std::string& reason) noexcept;

 private:
  struct Variable;
  struct Keeper;
  void Begin();
  void Keep(Keeper& keeper);
  void Update(Keeper& keeper, Variable& variable, size_t device);
  double WaitFor(Variable& variable, std::unique_lock<std::mutex>& lock,
                 const std::function<bool()>& met);

  const ParameterServerOptions options_;
  std::once_flag started_, begun_;
  std::vector<std::unique_ptr<Keeper>> keepers_;
  std::vector<std::unique_ptr<Variable>> variables_;  // in their keepers' memory
  std::mutex mutex_;                                  // of what follows
  std::string reason_;
  std::atomic<bool> aborted_ = false;
};

// The side of one device.
class ServedVariables final : public VariableStrategy {
 public:
  ServedVariables(std::shared_ptr<ParameterServer> server, size_t device)
      : server_(std::move(server)), device_(device) {}

  int slots() const override { return 0; }
  void Start(Ops& ops, Variables& variables) override;
  void BeginStep(const UpdateStep& step) override { update_ = step; }
  void Need(size_t variable) override;
  void Ready(size_t variable) override;
  void EndStep() override { ++step_; }
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
  const std::shared_ptr<ParameterServer> server_;
  const size_t device_;
  Ops* ops_ = nullptr;
  Variables* variables_ = nullptr;
  UpdateStep update_;
  uint64_t step_ = 0;
};

}  // namespace recpack
