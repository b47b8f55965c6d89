// A data set of very many records, and a loader on it.
//
//   many_records make FOLDER RECORDS [OF_SHARD]
//                                        makes it: a manifest and an index of all, and shards of
//                                        OF_SHARD records (1000) that are a few real ones
//   many_records load FOLDER RANK RANKS BATCHES BEGAN
//                                        opens a loader and takes its batches; says when the first
//                                        one was there, in seconds since BEGAN (nanoseconds of the
//                                        monotonic clock); keeps all until its standard input ends
//
// Records have differing lengths, so that the index holds each; shards are links to a few files:
// what is sparse is their payload.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "recpack/base/file.h"
#include "recpack/base/random.h"
#include "recpack/example/builder.h"
#include "recpack/loader/loader.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLinks = 50'000;  // of a file; ext4 allows 65,000
constexpr uint32_t kMostBytes = 400;

std::string ShardName(uint64_t shard, uint64_t shards) {
  char name[64];
  std::snprintf(name, sizeof name, "train-%06llu-of-%06llu.tfrecord",
                static_cast<unsigned long long>(shard), static_cast<unsigned long long>(shards));
  return name;
}

ShardEntries WriteShard(const std::string& path, uint64_t records) {
  RecordWriter writer(PosixFiles().Create(path), {});
  ExampleBuilder example;
  KeyedRandom random(0, 0, 0);
  for (uint64_t i = 0; i < records; ++i) {
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

void Make(const std::string& folder, uint64_t records, uint64_t of_shard) {
  fs::create_directories(folder);
  constexpr char kIndexName[] = "train.recindex";
  IndexWriter index(PosixFiles().Create(folder + "/" + kIndexName));
  Manifest manifest{.source_kind = "sparse", .created_by = "many_records"};
  ManifestSplit& split = manifest.splits.emplace_back();
  split = {.name = "train", .index = kIndexName};
  ShardEntries entries;
  std::string linked;  // the file that a shard is a link to
  const uint64_t shards = records / of_shard;
  for (uint64_t shard = 0; shard < shards; ++shard) {
    entries.name = ShardName(shard, shards);
    const std::string path = folder + "/" + entries.name;
    if (shard % kLinks == 0) {
      entries = WriteShard(path, of_shard);
      entries.name = ShardName(shard, shards);
      entries.file_bytes = fs::file_size(path);
      linked = path;
    } else {
      fs::create_hard_link(linked, path);
    }
    index.AddShard(entries);
    split.shards.push_back(
        {.file = entries.name, .records = of_shard, .bytes = entries.file_bytes});
  }
  index.Finish(false);
  WriteManifest(PosixFiles(), folder, manifest, false);
}

double SecondsSince(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void Load(const std::string& folder, uint32_t rank, uint32_t ranks, uint64_t batches,
          std::chrono::steady_clock::time_point began) {
  const Dataset dataset = Dataset::Open(folder);
  const double opened = SecondsSince(began);
  Loader loader(dataset, {.fields = {NumbersField{.name = "label"}, IdField{}},
                          .order = ParseOrder("global"),
                          .rank = rank,
                          .world_size = ranks,
                          .threads = 2});
  loader.Next();
  const double first = SecondsSince(began);
  for (uint64_t i = 1; i < batches; ++i) loader.Next();
  std::printf("{\"records\": %llu, \"open_seconds\": %.6f, \"first_batch_seconds\": %.6f}\n",
              static_cast<unsigned long long>(dataset.records()), opened, first);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const std::string job = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  try {
    if (job == "make" && (argc == 4 || argc == 5)) {
      recpack::Make(argv[2], number(3), argc == 5 ? number(4) : 1000);
    } else if (job == "load" && argc == 7) {
      const std::chrono::nanoseconds began(number(6));
      recpack::Load(argv[2], static_cast<uint32_t>(number(3)), static_cast<uint32_t>(number(4)),
                    number(5), std::chrono::steady_clock::time_point(began));
    } else {
      std::fprintf(stderr,
                   "usage: many_records make FOLDER RECORDS [OF_SHARD]\n"
                   "       many_records load FOLDER RANK RANKS BATCHES BEGAN\n");
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "many_records: %s\n", error.what());
    return 2;
  }
}
