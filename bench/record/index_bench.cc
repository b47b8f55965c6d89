// Making an index of shards by scanning them, on one thread, beside a bare loop that reads the same
// bytes and looks at nothing.
//
//   index_bench scan|verify|bare FOLDER [--rounds N]
//
// `scan` checks lengths, `verify` payloads too.
#include <algorithm>
#include <filesystem>

#include "bench/record/timing.h"
#include "recpack/base/error.h"
#include "recpack/record/index.h"

namespace recpack {
namespace {

std::vector<std::string> ShardsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.find(".tfrecord") != name.npos && !name.ends_with(".idx"))
      paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

bench::Pass Scan(const std::vector<std::string>& paths, bool verify) {
  bench::Pass pass;
  for (const auto& path : paths) {
    const ShardEntries entries = ScanShard(PosixFiles(), path, verify);
    pass.records += entries.lengths.size();
    pass.bytes += entries.file_bytes;
  }
  return pass;
}

bench::Pass Bare(const std::vector<std::string>& paths) {
  bench::Pass pass;
  ByteBuffer buffer(900'000);
  for (const auto& path : paths) {
    const auto file = PosixFiles().OpenForReading(path);
    for (uint64_t offset = 0; const size_t got = file->ReadAt(offset, buffer);) {
      offset += got;
      pass.bytes += got;
    }
  }
  return pass;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const std::string job = argc > 2 ? argv[1] : "";
  if (job != "scan" && job != "verify" && job != "bare") {
    std::fprintf(stderr, "usage: index_bench scan|verify|bare FOLDER [--rounds N]\n");
    return 2;
  }
  try {
    const auto paths = recpack::ShardsIn(argv[2]);
    const int rounds = std::stoi(recpack::bench::Flag(argc, argv, "--rounds", "5"));
    recpack::bench::Measure(job, 1, rounds, [&] {
      return job == "bare" ? recpack::Bare(paths) : recpack::Scan(paths, job == "verify");
    });
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
