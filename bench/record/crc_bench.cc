// Every implementation of CRC-32C over CIFAR-sized records in the L2 cache.
//
//   crc_bench [--rounds N]
#include "bench/record/timing.h"
#include "recpack/record/crc32c.h"

int main(int argc, char** argv) {
  constexpr size_t kRecord = 3110, kRecords = 200, kTurns = 300;
  const recpack::ByteBuffer bytes(kRecord * kRecords, 0x5a);
  for (const auto& implementation : recpack::Crc32cImplementations()) {
    uint32_t sum = 0;
    recpack::bench::Measure(
        implementation.name, 1, std::stoi(recpack::bench::Flag(argc, argv, "--rounds", "5")), [&] {
          for (size_t turn = 0; turn < kTurns; ++turn) {
            for (size_t i = 0; i < kRecords; ++i) {
              sum +=
                  implementation.extend(0, recpack::ByteView(bytes).subspan(i * kRecord, kRecord));
            }
          }
          return recpack::bench::Pass{kTurns * kRecords, kTurns * bytes.size() + (sum & 0)};
        });
  }
  return 0;
}
