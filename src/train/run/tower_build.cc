// Builds the towers of a training, and ends all of them when one fails.
#include <exception>
#include <string>

#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/train/run/trainer_state.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/make_ops.h"

namespace recpack::train {

// Returns the names of the tower's devices.
std::string Trainer::State::NameOfTower(size_t index) const {
  if (!IsPlaced(options)) return DeviceName(options.devices[index]);
  return JoinNames(options.devices, DeviceName);
}

// Keeps the first failure and aborts the collectives, so that other towers and processes stop with
// its reason.
void Trainer::State::Fail(size_t index, const std::string& reason) noexcept {
  {
    const std::lock_guard lock(mutex);
    if (failure) return;
    failure = std::current_exception();
  }
  feeder->Abort(reason);
  if (eval_feeder) eval_feeder->Abort(reason);
  for (const auto& tower : towers) tower->strategy().Abort(reason);
  control[index]->Abort(reason);
  norms[index]->Abort(reason);
}

void Trainer::State::Build(size_t index) {
  const auto make = [&](Ops& ops, Placement* placed) {
    ModelContext context{.ops = &ops,
                         .placement = placed,
                         .word_vectors = word_vectors.get(),
                         .batch = options.batch_size,
                         .type = options.type,
                         .layout = options.layout,
                         .fused_norm = options.fused_norm,
                         .weights_beside = options.weights_beside && !placed};
    if (options.norm_sync && world->towers() > 1) {
      context.sum_over_devices = [collective = norms[index].get()](float* values, size_t count) {
        collective->AllReduce({values, count});
      };
    }
    return MakeModel(options, context);
  };
  towers[index]->Build(make, options.seed);
  towers[index]->RepeatSteps([this](const std::string& reason) {
    if (notice) notice(format("steps are enqueued operation by operation: {}", reason));
  });
  checkpoints->Restore(*towers[index]);
  control[index]->Barrier();
  if (index > 0) return;
  checkpoints->AllRestored();
  word_vectors.reset();
}

}  // namespace recpack::train
