// Variables that are kept in one place, or spread over several, and updated there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/train/ops/optimizer.h"

namespace recpack::train {

struct ParameterServerOptions {
  OptimizerOptions optimizer;
  size_t devices = 1;  // that send gradients
  bool async = false;  // each gradient is an update of its own, as soon as it comes
  // Whether some of the devices have no stream: they read variables in the host's memory.
  bool on_host = true;
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

  // Copies a gradient to `there`, memory of the keeper's device, and returns null; or returns where
  // it is in the host's memory, which it stays in, and may be written to, until the next call.
  // Null: the keeper is the host's.
  using Send = std::function<float*(float* there)>;
  // Sends the gradient of a device, for this update. Waits where the one
  // before it was not used yet. Returns the seconds it waited.
  double Push(size_t device, size_t variable, const UpdateStep& step, const Send& send);

  // Takes a variable from the host's memory, or from the keeper's device; the other is null.
  using Receive = std::function<void(const float* host, const float* there)>;
  // Calls it once the variable was updated `updates` times; async: as it is, which it stays until
  // the call returns. `reaches`: whether the caller's device copies from others. Returns the
  // seconds it waited.
  double Pull(size_t variable, uint64_t updates, bool reaches, const Receive& receive);

  // As `updates`: once all is in it that was sent by now.
  static constexpr uint64_t kAllSent = UINT64_MAX;
  // Before the first push, or while none is under way.
  void SetValue(size_t variable, const std::function<void(float* to)>& download);
  void ReadSlot(size_t slot, size_t variable, float* to);
  void WriteSlot(size_t slot, size_t variable, const float* from);

  // Pushes and pulls that wait, and those that come, throw the reason.
  void Abort(const std::string& reason) noexcept;

  // No device pushes or pulls any more. When this returns, nothing that was sent is read.
  void Stop() noexcept;

 private:
  struct Variable;
  struct Keeper;
  void Begin();
  void Keep(Keeper& keeper);
  float* Sum(Keeper& keeper, Variable& variable, size_t device);
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

}  // namespace recpack::train
