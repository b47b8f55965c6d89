// A data set of very many records, and a loader on it.
//
//   many_records make FOLDER RECORDS     makes it: an index of all, shards that are a few real ones
//   many_records load FOLDER RANK RANKS  opens a loader, says when its first batch was there, and
//                                        keeps it until its standard input ends
//
// Records have differing lengths, so that the index holds each; shards have 1000, and are links to
// a few files: what is sparse is their payload.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "recpack/base/file.h"
#include "recpack/base/random.h"
#include "recpack/example/builder.h"
#include "recpack/pipeline/loader.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kShardRecords = 1000;
constexpr uint64_t kLinks = 50'000;  // of a file; ext4 allows 65,000
constexpr uint32_t kMostBytes = 400;

std::string ShardPath(const std::string& folder, uint64_t shard) {
  char name[64];
  std::snprintf(name, sizeof name, "/train-%06llu.tfrecord",
                static_cast<unsigned long long>(shard));
  return folder + name;
}

ShardEntries WriteShard(const std::string& path) {
  RecordWriter writer(PosixFiles().Create(path), {});
  ExampleBuilder example;
  KeyedRandom random(0, 0, 0);
  for (uint64_t i = 0; i < kShardRecords; ++i) {
    const ByteBuffer text(1 + random.NextBelow(kMostBytes), 'x');
    example.Clear();
    example.AddBytes("text", text);
    example.AddInt64("label", static_cast<int64_t>(i));
    example.SerializeTo(writer.Begin(example.ByteSize()).data());
    writer.End();
  }
  writer.Finish(false);
  return writer.entries();
}

void Make(const std::string& folder, uint64_t records) {
  fs::create_directories(folder);
  IndexWriter index(PosixFiles().Create(folder + "/train.recindex"));
  ShardEntries entries;
  for (uint64_t shard = 0; shard < records / kShardRecords; ++shard) {
    const std::string path = ShardPath(folder, shard);
    if (shard % kLinks == 0) {
      entries = WriteShard(path);
      entries.file_bytes = fs::file_size(path);
    } else {
      fs::create_hard_link(ShardPath(folder, shard / kLinks * kLinks), path);
    }
    entries.name = fs::path(path).filename();
    index.AddShard(entries);
  }
  index.Finish(false);
}

void Load(const std::string& folder, uint32_t rank, uint32_t ranks,
          std::chrono::steady_clock::time_point began) {
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const Dataset dataset = Dataset::Open(folder);
  const double opened = seconds();
  Loader loader(dataset, {.fields = {NumbersField{.name = "label"}, IdField{}},
                          .order = ParseOrder("global"),
                          .rank = rank,
                          .world_size = ranks,
                          .threads = 2});
  loader.Next();
  std::printf("{\"records\": %llu, \"open_seconds\": %.6f, \"first_batch_seconds\": %.6f}\n",
              static_cast<unsigned long long>(dataset.records()), opened, seconds());
  std::fflush(stdout);
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) loader.Next();
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const auto began = std::chrono::steady_clock::now();
  const std::string job = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  try {
    if (job == "make" && argc == 4) {
      recpack::Make(argv[2], number(3));
    } else if (job == "load" && argc == 5) {
      recpack::Load(argv[2], static_cast<uint32_t>(number(3)), static_cast<uint32_t>(number(4)),
                    began);
    } else {
      std::fprintf(stderr, "usage: many_records make FOLDER RECORDS | load FOLDER RANK RANKS\n");
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "many_records: %s\n", error.what());
    return 2;
  }
}
