#include "tests/train/small_cifar.h"

#include <unistd.h>

#include "recpack/base/random.h"
#include "recpack/example/builder.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

void WriteShard(const std::string& path, int records, const auto& label_of) {
  RecordWriter writer(PosixFiles().Create(path), {});
  ExampleBuilder example;
  for (int i = 0; i < records; ++i) {
    const int64_t label = label_of(i);
    KeyedRandom random(1, 2, static_cast<uint64_t>(i));
    ByteBuffer pixels(3072);
    for (size_t p = 0; p < pixels.size(); ++p) {
      const bool bright = static_cast<int64_t>(p / 1024) == label % 3;
      const uint32_t level = bright ? 100 + static_cast<uint32_t>(label) * 12 : 40;
      pixels[p] = static_cast<uint8_t>(level + random.NextBelow(40));
    }
    example.Clear();
    example.AddBytes("image", pixels);
    example.AddInt64("label", label);
    example.SerializeTo(writer.Begin(example.ByteSize()).data());
    writer.End();
  }
  writer.Finish(false);
}

}  // namespace

SmallCifar::SmallCifar(int records) {
  static int count = 0;
  folder_ =
      std::filesystem::temp_directory_path() / format("recpack-train-{}-{}", ::getpid(), ++count);
  std::filesystem::create_directories(folder_);
  for (const char* split : {"train", "test"}) {
    WriteShard(format("{}/{}-00000-of-00001.tfrecord", folder_, split), records,
               [](int i) { return i % 10; });
  }
}

void SmallCifar::AddLabels(int64_t label, int records, const std::string& split) const {
  const auto of = [&](const char* number) {
    return format("{}/{}-{}.tfrecord", folder_, split, number);
  };
  std::filesystem::rename(of("00000-of-00001"), of("00000-of-00002"));
  WriteShard(of("00001-of-00002"), records, [label](int) { return label; });
}

}  // namespace recpack::train
