// The loader beside a bare loop that does the same work.
//
//   loader_bench loader|bare DATA [--recipe cifar10-train] [--type f32|u8] [--threads N]
//                [--batch N] [--rounds N] [--backend automatic|pread|mapped]
//
// A round is an epoch. `loader`: one live loader whose consumer touches nothing. `bare`: CIFAR-10
// only, the least that the work needs: each thread goes over its share of a keyed permutation,
// checks the CRC in a mapping that stays, crops, flips and normalises into its own batch memory.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "bench/record/timing.h"
#include "recpack/base/parallel.h"
#include "recpack/base/permutation.h"
#include "recpack/base/random.h"
#include "recpack/dataset/layout.h"
#include "recpack/dataset/pick.h"
#include "recpack/example/view.h"
#include "recpack/pipeline/loader.h"
#include "recpack/pipeline/recipe.h"
#include "recpack/record/framing.h"

namespace recpack {
namespace {

struct Flags {
  std::string data, recipe, type, backend;
  int threads, rounds;
  uint32_t batch;
};

ElementType TypeOf(const std::string& name) {
  return name == "u8" ? ElementType::kU8 : ElementType::kF32;
}

int RunLoader(const Flags& flags) {
  LoaderOptions options;
  options.fields = Recipe(flags.recipe);
  std::get<ImageField>(options.fields[0]).type = TypeOf(flags.type);
  options.batch_size = flags.batch;
  options.threads = flags.threads;
  options.last_batch = LastBatch::kKeep;
  if (flags.backend == "mapped") options.source.backend = SourceOptions::Backend::kMapped;
  if (flags.backend == "pread") options.source.backend = SourceOptions::Backend::kPread;
  const Dataset dataset = Dataset::Open(flags.data);
  Loader loader(dataset, options);
  bench::Measure("loader", flags.threads, flags.rounds, [&] {
    bench::Pass pass;
    while (const auto batch = loader.Next()) {
      pass.records += batch->size();
      for (const ArraySpec& array : batch->arrays()) {
        pass.bytes += array.sample_bytes * batch->size();
      }
    }
    return pass;
  });
  return 0;
}

int RunBare(const Flags& flags) {
  const Layout layout = OnlySplit(FindLayout(flags.data), "train");
  const LayoutSplit& split = layout.splits.front();
  const Index index = IndexOfSplit(split);
  std::vector<MappedFile> shards;
  for (const auto& path : split.shards) shards.emplace_back(path);
  FinishOptions finish;
  finish.in_layout = ImageLayout::kNchw;
  finish.in_height = finish.in_width = finish.out_height = finish.out_width = 32;
  finish.type = TypeOf(flags.type);
  const ImageField recipe = std::get<ImageField>(Recipe("cifar10-train")[0]);
  const Finisher finisher(MeanStd(finish, recipe.mean.data(), recipe.std.data()));

  const auto frame = [&](uint64_t id) {
    const RecordLocation at = index.Locate(id);
    return shards[at.shard].bytes().subspan(at.offset, at.length + kFrameBytes);
  };
  ExampleView view;
  const ByteView first = frame(0);
  view.Parse(first.subspan(kFrameHeaderBytes, first.size() - kFrameBytes));
  const size_t image_at =
      static_cast<size_t>(view.Find("image")->bytes_values()[0].data() - first.data());

  const size_t count = index.record_count();
  const size_t batches = (count + flags.batch - 1) / flags.batch;
  std::vector<ByteBuffer> memory(static_cast<size_t>(flags.threads) * 2,
                                 ByteBuffer(flags.batch * finisher.out_bytes()));
  uint64_t epoch = 0;
  bench::Measure("bare", flags.threads, flags.rounds, [&] {
    const KeyedPermutation order(1, 1, count);
    const uint64_t seed = ++epoch;
    ParallelFor(batches, flags.threads, [&](size_t worker, size_t b) {
      uint8_t* out = memory[worker * 2 + b % 2].data();
      for (size_t i = b * flags.batch; i < std::min(count, (b + 1) * flags.batch); ++i) {
        const ByteView bytes = frame(order(i));
        const ByteView payload = bytes.subspan(kFrameHeaderBytes, bytes.size() - kFrameBytes);
        if (!FrameHeaderHolds(bytes.data()) || !FramePayloadHolds(payload)) std::abort();
        KeyedRandom random(seed, 1, i);
        const uint32_t draw = random.NextU32();
        finisher(bytes.data() + image_at,
                 {static_cast<int32_t>(draw % 9) - 4, static_cast<int32_t>(draw / 16 % 9) - 4,
                  (draw >> 31) != 0},
                 out);
        out += finisher.out_bytes();
      }
    });
    return bench::Pass{.records = count, .bytes = count * finisher.out_bytes()};
  });
  return 0;
}

}  // namespace
}  // namespace recpack

int main(int argc, char** argv) {
  const std::string job = argc > 2 ? argv[1] : "";
  if (job != "loader" && job != "bare") {
    std::fprintf(stderr, "usage: loader_bench loader|bare DATA [--recipe R] [--type f32|u8] ...\n");
    return 2;
  }
  const auto flag = [&](const char* name, const char* otherwise) {
    return recpack::bench::Flag(argc, argv, name, otherwise);
  };
  const recpack::Flags flags{.data = argv[2],
                             .recipe = flag("--recipe", "cifar10-train"),
                             .type = flag("--type", "f32"),
                             .backend = flag("--backend", "automatic"),
                             .threads = std::stoi(flag("--threads", "2")),
                             .rounds = std::stoi(flag("--rounds", "5")),
                             .batch = static_cast<uint32_t>(std::stoul(flag("--batch", "512")))};
  return job == "loader" ? recpack::RunLoader(flags) : recpack::RunBare(flags);
}
