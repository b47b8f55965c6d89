#include "src/loader/run/batch_steps.h"

#include <exception>
#include <span>
#include <string>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/data/streams.h"

namespace recpack {
namespace {

// Call in a catch block: rethrows the exception nested in an Error that names the batch.
[[noreturn]] void RethrowWithBatch(uint64_t epoch, uint64_t position) {
  const auto where = [&](const std::string& reason) {
    return format("{}, in the batch from position {} of epoch {}", reason, position, epoch);
  };
  try {
    throw;
  } catch (const Error& error) {
    std::throw_with_nested(Error(error.kind(), where(error.reason()), error.place(), error.advice(),
                                 error.error_number()));
  } catch (const std::exception& error) {
    std::throw_with_nested(Error(ErrorKind::kInvalidArgument, where(error.what())));
  } catch (...) {
    std::throw_with_nested(Error(ErrorKind::kInvalidArgument,
                                 where("an exception was thrown that is not a std::exception")));
  }
}

}  // namespace

void RunBatchSteps(const LoaderPlan& plan, const BatchPlan& at, const BatchMemory& memory) {
  const uint64_t position = plan.schedule.Position(at, 0);
  try {
    for (const auto& worker : plan.batch_workers) {
      BatchView view(
          *plan.arrays, memory.bytes(),
          KeyedRandom(EpochSeed(plan.options.seed, at.epoch), worker->stream(), position));
      view.epoch = at.epoch;
      view.position = position;
      view.size = at.samples;
      view.ids = std::span(memory.ids).first(at.samples);
      view.mask = std::span(memory.mask).first(at.samples);
      view.memory = memory.slab;
      worker->Work(view);
    }
  } catch (...) {
    RethrowWithBatch(at.epoch, position);
  }
}

}  // namespace recpack
