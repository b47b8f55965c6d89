// Reading, checking and parsing shards into batches of (image, label), as a loader's first half
// does.
//
//   parse_bench parse FOLDER [--threads N] [--rounds N]
//
// Each thread copies 512 images of 3072 bytes and their labels into one batch's memory, again and
// again.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "bench/record/timing.h"
#include "recpack/example/view.h"
#include "recpack/record/parallel.h"

namespace recpack {
namespace {

constexpr size_t kBatch = 512;
constexpr size_t kImage = 3072;

struct alignas(128) Worker {
  ExampleView view;
  ByteBuffer images = ByteBuffer(kBatch * kImage);
  std::vector<int64_t> labels = std::vector<int64_t>(kBatch);
  uint64_t records = 0;

  void Take(ByteView payload) {
    view.Parse(payload);
    const FeatureView* image = view.Find("image");
    const FeatureView* label = view.Find("label");
    if (image == nullptr || label == nullptr || image->bytes_values()[0].size() != kImage)
      std::abort();
    const size_t place = records++ % kBatch;
    std::memcpy(&images[place * kImage], image->bytes_values()[0].data(), kImage);
    labels[place] = label->int64_values()[0];
  }
};

bench::Pass Parse(const std::vector<std::string>& paths, int threads,
                  std::vector<Worker>& workers) {
  for (Worker& worker : workers) worker.records = 0;
  ReadShards(paths, threads, {},
             [&](const ShardRecord& at) { workers[at.worker].Take(at.record.payload); });
  bench::Pass pass;
  for (const Worker& worker : workers) pass.records += worker.records;
  pass.bytes = pass.records * kImage;
  return pass;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: parse_bench parse FOLDER [--threads N] [--rounds N]\n");
    return 2;
  }
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    if (entry.path().extension() == ".tfrecord") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  const int threads = std::stoi(recpack::bench::Flag(argc, argv, "--threads", "1"));
  std::vector<recpack::Worker> workers(static_cast<size_t>(threads));
  recpack::bench::Measure("parse", threads,
                          std::stoi(recpack::bench::Flag(argc, argv, "--rounds", "5")),
                          [&] { return recpack::Parse(paths, threads, workers); });
  return 0;
}
