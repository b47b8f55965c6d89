#include <algorithm>

#include "bench/loader/bare.h"
#include "bench/loader/bare_shards.h"
#include "recpack/base/parallel.h"
#include "recpack/base/permutation.h"
#include "recpack/base/random.h"
#include "recpack/example/view.h"
#include "recpack/loader/recipe.h"

namespace recpack::bench {
namespace {

FinishOptions FinishOf(bool floats) {
  FinishOptions finish;
  finish.in_layout = ImageLayout::kNchw;
  finish.in_height = finish.in_width = finish.out_height = finish.out_width = 32;
  finish.type = floats ? ElementType::kF32 : ElementType::kU8;
  const ImageField recipe = std::get<ImageField>(Recipe("cifar10-train")[0]);
  return MeanStd(finish, recipe.mean.data(), recipe.std.data());
}

class Loop final : public BareLoop {
 public:
  explicit Loop(const BareFlags& flags)
      : flags_(flags), shards_(flags.data), finisher_(FinishOf(flags.floats)) {
    ExampleView view;
    const ByteView first = shards_.Frame(0);
    view.Parse(MappedShards::PayloadOf(first));
    image_at_ = static_cast<size_t>(view.Find("image")->bytes_values()[0].data() - first.data());
    memory_.resize(static_cast<size_t>(flags.threads) * 2,
                   ByteBuffer(flags.batch * finisher_.out_bytes()));
  }

  Pass Run() override {
    const size_t count = shards_.index.record_count();
    const size_t batches = (count + flags_.batch - 1) / flags_.batch;
    const KeyedPermutation order(1, 1, count);
    ++epoch_;
    ParallelFor(batches, flags_.threads, [&](size_t worker, size_t batch) {
      uint8_t* out = memory_[worker * 2 + batch % 2].data();
      const size_t end = std::min(count, (batch + 1) * flags_.batch);
      for (size_t i = batch * flags_.batch; i < end; ++i, out += finisher_.out_bytes()) {
        Fill(order(i), i, out);
      }
    });
    return {.records = count, .bytes = count * finisher_.out_bytes()};
  }

 private:
  void Fill(uint64_t id, uint64_t position, uint8_t* out) const {
    const ByteView frame = shards_.Frame(id);
    if (!FrameHeaderHolds(frame.data()) || !FramePayloadHolds(MappedShards::PayloadOf(frame))) {
      std::abort();
    }
    KeyedRandom random(epoch_, 1, position);
    const uint32_t draw = random.NextU32();
    finisher_(frame.data() + image_at_,
              {static_cast<int32_t>(draw % 9) - 4, static_cast<int32_t>(draw / 16 % 9) - 4,
               (draw >> 31) != 0},
              out);
  }

  const BareFlags flags_;
  const MappedShards shards_;
  const Finisher finisher_;
  size_t image_at_ = 0;
  uint64_t epoch_ = 0;
  std::vector<ByteBuffer> memory_;
};

}  // namespace

std::unique_ptr<BareLoop> BareCifar(const BareFlags& flags) {
  return std::make_unique<Loop>(flags);
}

}  // namespace recpack::bench
