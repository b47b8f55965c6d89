// Parameter server: variables are stored by one or more keepers, which also update them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/train/layers/optimizer.h"

namespace recpack::train {

struct ParameterServerOptions {
  OptimizerOptions optimizer;
  size_t devices = 1;  // number of devices that send gradients
  bool async = false;  // each gradient is an update of its own, applied on arrival
  // Set if some devices have no stream: they read variables in host memory.
  bool on_host = true;
  // Keepers of the variables, each with a thread and memory of its own. Variables are distributed
  // so that keepers hold about the same number of elements.
  std::vector<std::function<std::unique_ptr<Ops>()>> keepers;
};

// Shared by the strategies of all devices; thread-safe. A variable is updated once the gradients of
// all devices have arrived, summed in device order, while backward passes and the next step's
// forward passes run.
class ParameterServer {
 public:
  explicit ParameterServer(ParameterServerOptions options);
  ~ParameterServer();

  const ParameterServerOptions& options() const noexcept { return options_; }

  // Starts the server once, with the variables of the first device that calls. All devices have
  // equal variables, from the same seed.
  void Start(const Variables& variables, Ops& ops);

  // Copies a gradient to `there`, memory of the keeper's device, and returns null; or returns its
  // address in host memory, which must stay valid until the next call and may be overwritten.
  // `there` is null if the keeper is on the host.
  using Send = std::function<float*(float* there)>;
  // Sends a device's gradient for this update. Waits until its previous gradient has been used.
  // Returns the seconds it waited.
  double Push(size_t device, size_t variable, const UpdateStep& step, const Send& send);

  // Reads a variable from host memory, or from the keeper's device; the other pointer is null.
  using Receive = std::function<void(const float* host, const float* there)>;
  // Calls `receive` once the variable has had `updates` updates. If asynchronous: with the current
  // value, which does not change during the call. `reaches`: the caller's device can copy from
  // other devices. Returns the seconds it waited.
  double Pull(size_t variable, uint64_t updates, bool reaches, const Receive& receive);

  // For `updates`: wait for all gradients sent so far.
  static constexpr uint64_t kAllSent = UINT64_MAX;
  // Call before the first push, or while no push is in progress.
  void SetValue(size_t variable, const std::function<void(float* to)>& download);
  void ReadSlot(size_t slot, size_t variable, float* to);
  void WriteSlot(size_t slot, size_t variable, const float* from);

  // Makes pushes and pulls, waiting and future ones, throw `reason`.
  void Abort(const std::string& reason) noexcept;

  // Call when no device pushes or pulls any more. After it returns, sent gradients are not read.
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
  std::mutex mutex_;                                  // guards the members below
  std::string reason_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace recpack::train
