// Writing CIFAR-sized records from memory, with CRCs, unsynced.
//
//   write_bench write --out FOLDER [--records N] [--rounds N]
#include <filesystem>

#include "bench/record/timing.h"
#include "recpack/base/random.h"
#include "recpack/record/writer.h"

namespace recpack {
namespace {

constexpr size_t kPayload = 3110;  // a CIFAR row as tf.train.Example
constexpr uint64_t kShards = 4;

bench::Pass Write(const std::string& folder, const ByteBuffer& pixels, uint64_t records) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  bench::Pass pass;
  for (uint64_t shard = 0; shard < kShards; ++shard) {
    RecordWriter writer(PosixFiles().Create(folder + "/" + std::to_string(shard)), {});
    for (uint64_t i = 0; i < records / kShards; ++i) {
      writer.Write(ByteView(pixels).subspan(i * 64 % (pixels.size() - kPayload), kPayload));
    }
    writer.Finish(false);
    pass.records += records / kShards;
    pass.bytes += writer.entries().file_bytes;
  }
  return pass;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  using recpack::bench::Flag;
  const std::string folder = Flag(argc, argv, "--out", "");
  if (folder.empty()) {
    std::fprintf(stderr, "usage: write_bench write --out FOLDER [--records N] [--rounds N]\n");
    return 2;
  }
  const uint64_t records = std::stoull(Flag(argc, argv, "--records", "60000"));
  recpack::ByteBuffer pixels(16 << 20);
  recpack::KeyedRandom random(1, 2, 3);
  for (auto& pixel : pixels) pixel = static_cast<uint8_t>(random.NextU32());
  recpack::bench::Measure("write", 1, std::stoi(Flag(argc, argv, "--rounds", "5")),
                          [&] { return recpack::Write(folder, pixels, records); });
  std::filesystem::remove_all(folder);
  return 0;
}
