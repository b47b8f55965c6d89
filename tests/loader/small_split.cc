#include "tests/loader/small_split.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>

#include "recpack/base/error.h"
#include "recpack/example/builder.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"

namespace recpack {

namespace fs = std::filesystem;

SmallSplit::SmallSplit(uint64_t records, uint64_t shards) : shards_(shards) {
  folder_ = fs::temp_directory_path() / "recpack-pipeline-XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) throw SystemError("cannot make", folder_, errno);
  for (uint64_t i = 0; i < shards; ++i) {
    RecordWriter writer(PosixFiles().Create(shard(i)), {});
    ExampleBuilder example;
    for (uint64_t id = records * i / shards; id < records * (i + 1) / shards; ++id) {
      ByteBuffer pixels(3 * 8 * 8);
      for (size_t p = 0; p < pixels.size(); ++p) pixels[p] = static_cast<uint8_t>(id * 31 + p * 7);
      example.Clear();
      example.AddBytes("image", pixels);
      example.AddInt64("label", static_cast<int64_t>(id));
      const std::vector<int64_t> words(id % 5, static_cast<int64_t>(id));
      example.AddInt64List("words", words);
      const std::string text(id % 7, 'x');
      example.AddBytes("text", AsBytes(text));
      const std::string file = format("{}.png", id);
      example.AddBytes("file", AsBytes(file));
      example.AddInt64("class", SmallClass(id));
      example.SerializeTo(writer.Begin(example.ByteSize()).data());
      writer.End();
    }
    writer.Finish(false);
  }
}

SmallSplit::~SmallSplit() { fs::remove_all(folder_); }

std::string SmallSplit::shard(uint64_t i) const {
  return format("{}/train-{:05}-of-{:05}.tfrecord", folder_, i, shards_);
}

void SmallSplit::Damage(uint64_t ordinal) const {
  const Place place = Dataset::Open(folder_).FindPlace(ordinal);
  ByteBuffer bytes = ReadWholeFile(PosixFiles(), place.path);
  bytes.at(*place.offset + 40) ^= 1;
  WriteFileAtomically(PosixFiles(), place.path, bytes, false);
}

int64_t SmallClass(uint64_t id) {
  constexpr int64_t kClasses[] = {0, 1, 0, 5, 0, 1, 0};
  return kClasses[id % 7];
}

std::vector<Field> SmallFields() {
  ImageField image;
  image.feature = "image";
  image.raw_shape = {3, 8, 8};
  image.height = image.width = 8;
  image.crop = CropKind::kPadAndCrop;
  image.pad = 1;
  image.flip = 0.5F;
  return {image, NumbersField{.name = "label"}};
}

Taken TakenOf(const Batch& batch) {
  Taken one{batch.epoch(), {}, {}, {}, batch.token()};
  for (uint32_t i = 0; i < batch.size(); ++i) {
    if (batch.mask()[i] == 0) continue;
    one.ids.push_back(batch.ids()[i]);
    one.views.push_back(batch.views()[i]);
  }
  for (size_t i = 0; i < batch.arrays().size(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(batch.Raw(i));
    one.bytes.insert(one.bytes.end(), bytes, bytes + batch.arrays()[i].sample_bytes * batch.size());
  }
  return one;
}

std::vector<Taken> Take(Loader& loader, size_t batches) {
  std::vector<Taken> taken;
  while (taken.size() < batches) {
    if (const auto batch = loader.Next()) taken.push_back(TakenOf(*batch));
  }
  return taken;
}

std::vector<ViewAndId> TakeRanks(const Mixture& samples, LoaderOptions options, uint32_t world,
                                 size_t steps, std::string* token) {
  std::vector<std::vector<Taken>> taken;
  options.world_size = world;
  for (options.rank = 0; options.rank < world; ++options.rank) {
    Loader loader(samples, options);
    taken.push_back(Take(loader, steps));
  }
  std::vector<ViewAndId> all;
  for (size_t step = 0; step < steps; ++step) {
    for (uint32_t i = 0; i < options.batch_size; ++i) {
      for (uint32_t rank = 0; rank < world; ++rank) {
        const Taken& own = taken[rank][step];
        if (i < own.ids.size()) all.emplace_back(own.views[i], own.ids[i]);
      }
    }
    if (token != nullptr) *token = taken[0][step].token;
    for (const auto& rank : taken) EXPECT_EQ(rank[step].token, taken[0][step].token);
  }
  return all;
}

std::vector<ViewAndId> EpochOfRanks(const Mixture& samples, LoaderOptions options, uint32_t world) {
  options.world_size = world;
  std::vector<size_t> steps;
  for (options.rank = 0; options.rank < world; ++options.rank) {
    Loader loader(samples, options);
    size_t& count = steps.emplace_back();
    while (loader.Next()) ++count;
    EXPECT_EQ(count, loader.steps_per_epoch());
    EXPECT_EQ(count, steps.front()) << "rank " << options.rank << " of " << world;
  }
  return TakeRanks(samples, options, world, steps.front());
}

}  // namespace recpack
