// A stand-in for CIFAR-10 where the real one cannot be had: the same files, drawn pictures.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/base/file.h"

namespace recpack::pack {

struct StandInOptions {
  uint64_t rows_per_batch = 10000;  // of the six batches; as in CIFAR-10
  uint64_t seed = 0;
  // Not owned. Null: PosixFiles().
  FileSystem* files = nullptr;
};

// Writes data_batch_1 to 5, test_batch and batches.meta into `folder` (made if missing), in the
// layout and the opcodes (protocol 2 of Python 2) of cifar-10-batches-py: 32x32 pictures of simple
// shapes that differ by class, place, size and colours, with noise. A classifier can learn them,
// but they are no photographs. The bytes are a function of the options only, on every machine.
// Throws Error: kInvalidArgument if one of the files is there already or rows_per_batch is 0 or
// more than 500,000; kIo.
void WriteCifarStandIn(const std::string& folder, const StandInOptions& options = {});

}  // namespace recpack::pack
