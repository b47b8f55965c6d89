// Parameter server: variables are stored by one or more keepers, of one process or several, which
// also update them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "src/train/collectives/collective.h"
#include "src/train/layers/optimizer.h"

namespace recpack::train {

struct ParameterServerOptions {
  OptimizerOptions optimizer;
  size_t devices = 1;  // number of this process's devices, which send gradients
  bool async = false;  // each gradient is an update of its own, applied on arrival
  // Set if some devices have no stream: they read variables in host memory.
  bool on_host = true;
  // This process's keepers of variables, each with memory of its own, and a thread if there is one
  // process. Variables are distributed so that keepers hold about the same number of elements.
  std::vector<std::function<std::unique_ptr<Ops>()>> keepers;

  // Collective of several processes, for host memory, that nothing else uses; null: one process.
  // Not for asynchronous updates.
  std::shared_ptr<Collective> processes = {};
  std::vector<size_t> keepers_by_process = {};  // number of keepers of each process
  // Between processes, variables are exchanged, and distributed over keepers, in buckets of at
  // least that many elements.
  size_t bucket_elements = 1;
};

// Shared by the strategies of all devices; thread-safe. A variable is updated once the gradients of
// all devices have arrived, summed in device order, while backward passes and the next step's
// forward passes run. Between processes, gradients are summed in each process first, then in
// process order in the process of the variable's keeper, which sends the updated values to all.
class ParameterServer {
 public:
  explicit ParameterServer(ParameterServerOptions options);
  ~ParameterServer();

  const ParameterServerOptions& options() const noexcept { return options_; }

  // Starts the server once, with the variables of the first device that calls. All devices have
  // equal variables, from the same seed.
  void Start(const Variables& variables, Ops& ops);

  // Copies a gradient to `there`, memory of the keeper's device, and returns null; or returns its
  // address in host memory, which must stay valid until the next call and may be overwritten: its
  // place in an array of the gradients of all variables. `there` is null if the keeper is on the
  // host, or there are several processes.
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
  // Gathers the optimizer slots of all variables for ReadSlot(). Collective over all processes:
  // call on one device of each, after its Pull() of all variables and before its next push.
  void GatherSlots();

  // Makes pushes and pulls, waiting and future ones, throw `reason`, in all processes.
  void Abort(const std::string& reason) noexcept;

  // Call when no device pushes or pulls any more. After it returns, sent gradients are not read.
  // Between processes, first exchanges what has been sent, which the others wait for.
  void Stop() noexcept;

 private:
  struct Variable;
  struct Worker;
  struct Keeper;
  struct OwnedBucket;
  struct Exchange;
  // Assign each variable to a keeper.
  using VariableList = std::span<const std::unique_ptr<Variable>>;
  void Distribute(VariableList list);
  void DistributeBuckets(VariableList list, const Variables& variables);
  void Begin();
  std::vector<Worker*> Workers() const;
  // Work of a keeper, or of the exchange between processes.
  void Keep(Keeper& keeper);
  void RunExchange();
  void Hold(Keeper& keeper);
  float* Sum(Keeper& keeper, Variable& variable, size_t device);
  float* SumInHost(const Variable& variable, size_t first, size_t end) const;
  void Update(Keeper& keeper, Variable& variable, size_t device);
  void UpdateValue(Keeper& keeper, Variable& variable, const float* gradient, size_t device);
  void MarkUpdated(Variable& variable, size_t device);
  void ExchangeWholeBuckets();
  void ExchangeBucket(const OwnedBucket& bucket);
  void UpdateFromHost(Keeper& keeper, Variable& variable);
  double WaitFor(Variable& variable, std::unique_lock<std::mutex>& lock,
                 const std::function<bool()>& met);

  const ParameterServerOptions options_;
  std::once_flag started_, begun_;
  std::vector<std::unique_ptr<Keeper>> keepers_;
  std::unique_ptr<Exchange> exchange_;                // null: one process
  std::vector<float> published_;                      // of all variables, see Variable
  std::vector<std::unique_ptr<Variable>> variables_;  // in their keepers' memory
  std::mutex mutex_;                                  // guards the members below
  std::string reason_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace recpack::train
