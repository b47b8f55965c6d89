#include "src/train/setup/gain_options.h"

#include <algorithm>
#include <string>

#include "recpack/base/gain.h"

namespace recpack::train {
namespace {

constexpr uint64_t kManyEpochs = 1'000'000;

}  // namespace

TrainerOptions AdaptToGainRun(TrainerOptions options, const TrainerNotice& notice) {
  if (!IsGainRun()) return options;
  std::string out;
  const auto leave_out = [&](bool asked, const char* what) {
    if (asked) out += (out.empty() ? "" : ", ") + std::string(what);
  };
  leave_out(!options.checkpoints.empty(), "checkpoints");
  leave_out(!options.ledger.empty(), "the ledger");
  leave_out(options.evaluate, "evaluation");
  leave_out(options.input != InputKind::kReal, "other input than real");
  leave_out(!options.timing.inputs.empty(), "timed inputs");
  options.checkpoints.clear();
  options.checkpoint_steps = 0;
  options.ledger.clear();
  options.evaluate = false;
  options.input = InputKind::kReal;
  options.timing.inputs.clear();
  options.epochs = std::max(options.epochs, kManyEpochs);
  options.schedule_epochs = 0;
  options.learns = false;
  options.audits = false;
  if (notice) {
    notice(
        "this run is an experiment of recprobe gain: batches are repeated, nothing is learned (the "
        "learning rate is 0), epochs are not audited, and it runs until it is stopped" +
        (out.empty() ? "" : "; left out: " + out));
  }
  return options;
}

}  // namespace recpack::train
