// Errors of failed collectives, shared by all implementations.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"

namespace recpack::train {

// `rank` called Abort().
Error AbortError(int rank, const std::string& reason);

// Two ranks made different calls.
Error MismatchError(int rank, const CollectiveCall& call, int other,
                    const CollectiveCall& other_call);

// `rank` was destroyed while others call.
Error LeftError(int rank, const CollectiveCall& call);

// The connection to `rank` broke.
Error LostError(int rank, const CollectiveCall& call);

// Timeout: nothing came from the ranks `missing`, which is not empty.
Error LateError(std::span<const int> missing, const CollectiveCall& call,
                std::chrono::milliseconds timeout);

// "rank 2", "ranks 0, 3".
std::string RanksText(std::span<const int> ranks);

}  // namespace recpack::train
