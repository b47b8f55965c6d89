#include "src/train/collectives/collective_failure.h"

#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::train {

std::string RanksText(std::span<const int> ranks) {
  const auto number = [](int rank) { return std::to_string(rank); };
  return (ranks.size() == 1 ? "rank " : "ranks ") + JoinNames(ranks, number);
}

Error AbortError(int rank, const std::string& reason) {
  return {ErrorKind::kIo, format("rank {} ended the run: {}", rank, reason)};
}

Error MismatchError(int rank, const CollectiveCall& call, int other,
                    const CollectiveCall& other_call) {
  return {ErrorKind::kInvalidArgument,
          format("rank {} calls {} while rank {} calls {}", rank, CallText(call), other,
                 CallText(other_call)),
          {},
          "all ranks must call the same operations in the same order"};
}

Error LeftError(int rank, const CollectiveCall& call) {
  return {ErrorKind::kIo,
          format("rank {} has finished, while others call {}", rank, CallText(call))};
}

Error LostError(int rank, const CollectiveCall& call) {
  return {ErrorKind::kIo,
          format("rank {} was lost in {}: its process has ended, or the network failed", rank,
                 CallText(call)),
          {},
          "see the last output of that process"};
}

Error LateError(std::span<const int> missing, const CollectiveCall& call,
                std::chrono::milliseconds timeout) {
  return {ErrorKind::kIo,
          format("{} did not come to {} within {} ms", RanksText(missing), CallText(call),
                 timeout.count()),
          {},
          "find out what delays it, or set a longer timeout"};
}

}  // namespace recpack::train
