#include "bench/image/libjpeg_crop.h"
#include "bench/loader/bare.h"
#include "bench/loader/bare_shards.h"
#include "recpack/base/parallel.h"
#include "recpack/base/permutation.h"
#include "recpack/base/random.h"
#include "recpack/example/view.h"
#include "recpack/image/header.h"
#include "src/loader/image/crop_choice.h"

namespace recpack::bench {
namespace {

class Loop final : public BareLoop {
 public:
  explicit Loop(const BareFlags& flags)
      : flags_(flags),
        shards_(flags.data),
        crop_(0.08, 1, 0.75, 4.0 / 3),
        views_(static_cast<size_t>(flags.threads)),
        rows_(static_cast<size_t>(flags.threads)) {}

  Pass Run() override {
    const uint64_t records = shards_.index.record_count();
    const uint64_t count = flags_.samples > 0 ? flags_.samples : records;
    const KeyedPermutation order(1, 1, records);
    ParallelFor(count, flags_.threads, [&](size_t worker, size_t i) {
      const uint64_t position = done_ + i;
      const ByteView frame = shards_.Frame(order(position % records));
      views_[worker].Parse(MappedShards::PayloadOf(frame));
      const ByteView jpeg = views_[worker].Find("image/encoded")->bytes_values()[0];
      const ImageHeader header = ReadImageHeader(jpeg);
      KeyedRandom random(1, 1, position);
      CropByLibjpeg(jpeg, crop_({header.width, header.height}, random), rows_[worker]);
    });
    done_ += count;
    return {.records = count, .bytes = 0};
  }

 private:
  const BareFlags flags_;
  const MappedShards shards_;
  const RandomCrop crop_;
  uint64_t done_ = 0;
  std::vector<ExampleView> views_;
  std::vector<std::vector<uint8_t>> rows_;
};

}  // namespace

std::unique_ptr<BareLoop> BareCrop(const BareFlags& flags) { return std::make_unique<Loop>(flags); }

}  // namespace recpack::bench
