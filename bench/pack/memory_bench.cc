// Memory at counts of records that no test disk holds: one job a process, whose peak the caller
// reads from the operating system.
//
//   memory_bench --job pack|index|read --records N --out FOLDER
//
// pack:  plans N items of 100 KB in shards of 100 MB and packs the first shard of them.
// index: writes the index of N records of differing lengths.
// read:  opens that index and locates a million records in random order.
// What is sparse is the payload: items are 100 bytes long whatever the plan thinks, and shards of
// the index do not exist.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/base/random.h"
#include "recpack/record/index.h"
#include "src/pack/job/pack.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kRecordsPerShard = 1000;
constexpr uint64_t kItemBytes = 100'000;
constexpr uint64_t kLocated = 1'000'000;

struct Settings {
  std::string job;
  uint64_t records = 0;
  std::string out;
};

class SparseReader final : public ItemReader {
 public:
  void Read(size_t, uint64_t item, Sample& sample) override {
    sample.features.AddBytes("image", payload_);
    sample.features.AddInt64("label", static_cast<int64_t>(item % 10));
  }

 private:
  std::vector<uint8_t> payload_ = std::vector<uint8_t>(100, 1);
};

class SparseSource final : public Source {
 public:
  explicit SparseSource(uint64_t items) : splits_{{.name = "train", .items = items}} {}
  std::string kind() const override { return "sparse"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string ItemName(size_t, uint64_t item) const override { return std::to_string(item); }
  uint64_t ItemBytes(size_t, uint64_t) const override { return kItemBytes; }
  bool sorted_by_class() const override { return false; }
  std::string Fingerprint() const override { return std::to_string(splits_[0].items); }
  std::unique_ptr<ItemReader> NewReader() const override {
    return std::make_unique<SparseReader>();
  }

 private:
  std::vector<SourceSplit> splits_;
  std::vector<std::string> class_names_;
};

uint64_t PackFirstShard(const Settings& settings) {
  const SparseSource source(settings.records);
  std::filesystem::remove_all(settings.out + "/pack");
  PackOptions options{.out = settings.out + "/pack", .sync = false};
  options.plan.shard_bytes = kRecordsPerShard * kItemBytes;
  options.tasks = static_cast<uint32_t>(settings.records / kRecordsPerShard) + 1;
  Pack(source, options);
  return settings.records;
}

std::string IndexPath(const Settings& settings) {
  return settings.out + "/" + std::to_string(settings.records) + ".recindex";
}

uint64_t WriteIndex(const Settings& settings) {
  std::filesystem::create_directories(settings.out);
  IndexWriter writer(PosixFiles().Create(IndexPath(settings)));
  ShardEntries shard;
  for (uint64_t first = 0; first < settings.records; first += kRecordsPerShard) {
    KeyedRandom random(0, 0, first);
    shard.name = "train-" + std::to_string(first / kRecordsPerShard) + ".tfrecord";
    shard.lengths.resize(std::min(kRecordsPerShard, settings.records - first));
    shard.file_bytes = 0;
    for (uint32_t& length : shard.lengths) {
      length = 50'000 + random.NextBelow(100'000);
      shard.file_bytes += length + 16;
    }
    writer.AddShard(shard);
  }
  writer.Finish(false);
  return settings.records;
}

uint64_t LocateAtRandom(const Settings& settings) {
  if (!std::filesystem::exists(IndexPath(settings))) {
    throw Error(ErrorKind::kNotFound, "there is no index", {.path = IndexPath(settings)},
                "run the job index first");
  }
  const Index index = Index::Open(IndexPath(settings));
  KeyedRandom random(1, 0, 0);
  uint64_t offsets = 0;
  for (uint64_t i = 0; i < kLocated; ++i) {
    offsets += index.Locate(random.NextU64() % index.record_count()).offset;
  }
  if (offsets == 0) throw Error(ErrorKind::kCorrupt, "all records lie at 0", {});
  return index.record_count();
}

// A line of /proc/self/status, in MB: RssAnon is ours alone, RssFile is mapped and can be dropped.
double StatusMb(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field))
      return std::strtod(line.c_str() + std::strlen(field), nullptr) / 1024;
  }
  return -1;
}

uint64_t RunJob(const Settings& settings) {
  if (settings.job == "pack") return PackFirstShard(settings);
  if (settings.job == "index") return WriteIndex(settings);
  if (settings.job == "read") return LocateAtRandom(settings);
  throw Error(ErrorKind::kInvalidArgument, "'" + settings.job + "' is not a job", {},
              "choose pack, index or read");
}

void Run(const Settings& settings) {
  const auto began = std::chrono::steady_clock::now();
  const uint64_t records = RunJob(settings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf(
      "{\"job\": \"%s\", \"seconds\": %.6f, \"records\": %llu, "
      "\"config\": \"at the end %.1f MB of its own, %.1f MB of mapped files\"}\n",
      settings.job.c_str(), took.count(), static_cast<unsigned long long>(records),
      StatusMb("RssAnon:"), StatusMb("RssFile:"));
}

Settings SettingsOf(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--job") settings.job = argv[i + 1];
    if (flag == "--records") settings.records = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--out") settings.out = argv[i + 1];
  }
  return settings;
}

}  // namespace
}  // namespace recpack::pack

int main(int argc, char** argv) {
  const recpack::pack::Settings settings = recpack::pack::SettingsOf(argc, argv);
  if (settings.records == 0 || settings.out.empty()) {
    std::fprintf(stderr, "usage: memory_bench --job pack|index|read --records N --out FOLDER\n");
    return 2;
  }
  try {
    recpack::pack::Run(settings);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memory_bench: %s\n", error.what());
    return 2;
  }
}
