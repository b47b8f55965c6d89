// Fuzzes CIFAR batches, binary (first byte even) or pickled: reads them to the end.
#include <cstdint>
#include <cstring>
#include <memory>

#include "recpack/base/error.h"
#include "src/pack/sources/cifar/cifar_batch.h"
#include "src/shards/files/memory_file.h"

namespace {

recpack::pack::CifarBatch Open(uint8_t choice, const recpack::pack::CifarFile& file) {
  const auto dataset = (choice & 2) != 0 ? recpack::pack::CifarDataset::kCifar100
                                         : recpack::pack::CifarDataset::kCifar10;
  return (choice & 1) != 0 ? recpack::pack::OpenPickleBatch(file, dataset)
                           : recpack::pack::OpenBinaryBatch(file, dataset);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  auto copy = std::make_unique<uint8_t[]>(size);
  std::memcpy(copy.get(), data + 1, size - 1);
  const auto file = std::make_shared<recpack::MemoryFile>("batch", std::move(copy), size - 1);
  try {
    const recpack::pack::CifarBatch batch = Open(data[0], {"batch", file, file->bytes()});
    uint64_t sum = 0;
    for (uint64_t row = 0; row < batch.rows; ++row) {
      for (uint64_t i = 0; i < batch.row_bytes; ++i) {
        sum += batch.memory[batch.first_row + row * batch.row_bytes + i];
      }
      if (!batch.labels.empty()) sum += static_cast<uint64_t>(batch.labels[row]);
    }
    [[maybe_unused]] static volatile uint64_t sink;
    sink = sum;
  } catch (const recpack::Error&) {
  }
  return 0;
}
