// Writes a synthetic replacement for CIFAR-10 with the same files and drawn pictures.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/base/file.h"

namespace recpack::stand_in {

struct CifarOptions {
  uint64_t rows_per_batch = 10000;  // in each of the six batches; as in CIFAR-10
  uint64_t seed = 0;
  // Not owned. nullptr: PosixFiles().
  FileSystem* files = nullptr;
};

// Writes data_batch_1 to 5, test_batch and batches.meta into `folder` (created if missing), with
// the layout and opcodes of cifar-10-batches-py (protocol 2 of Python 2): 32x32 pictures of simple
// shapes that differ by class, position, size and colours, with noise. A classifier can learn them,
// but they are not photographs. The bytes depend on the options only, on every machine. Throws
// Error: kInvalidArgument if one of the files already exists or rows_per_batch is 0 or more than
// 500,000; kIo.
void WriteCifar(const std::string& folder, const CifarOptions& options = {});

}  // namespace recpack::stand_in
