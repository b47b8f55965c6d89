#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/loader/bare.h"
#include "bench/loader/bare_shards.h"
#include "recpack/base/parallel.h"
#include "recpack/example/view.h"

namespace recpack::bench {
namespace {

class Loop final : public BareLoop {
 public:
  explicit Loop(const BareFlags& flags) : flags_(flags), shards_(flags.data) {
    ExampleView view;
    const ByteView first = shards_.Frame(0);
    view.Parse(MappedShards::PayloadOf(first));
    const ByteView image = view.Find("image")->bytes_values()[0];
    image_at_ = static_cast<size_t>(image.data() - first.data());
    image_bytes_ = image.size();
    // The label is the record's last number, of one byte: there are ten classes.
    memory_.resize(static_cast<size_t>(flags.threads) * 2,
                   ByteBuffer(flags.batch * (image_bytes_ + sizeof(int64_t))));
  }

  Pass Run() override {
    const size_t count = shards_.index.record_count();
    const size_t batches = (count + flags_.batch - 1) / flags_.batch;
    ParallelFor(batches, flags_.threads, [&](size_t worker, size_t batch) {
      uint8_t* images = memory_[worker * 2 + batch % 2].data();
      uint8_t* labels = images + flags_.batch * image_bytes_;
      const size_t end = std::min(count, (batch + 1) * flags_.batch);
      for (size_t id = batch * flags_.batch; id < end; ++id) {
        const ByteView frame = shards_.Frame(id);
        const ByteView payload = MappedShards::PayloadOf(frame);
        if (!FrameHeaderHolds(frame.data()) || !FramePayloadHolds(payload)) std::abort();
        std::memcpy(images, frame.data() + image_at_, image_bytes_);
        StoreLittleEndian(labels, static_cast<int64_t>(payload.back()));
        images += image_bytes_;
        labels += sizeof(int64_t);
      }
    });
    return {.records = count, .bytes = count * (image_bytes_ + sizeof(int64_t))};
  }

 private:
  const BareFlags flags_;
  const MappedShards shards_;
  size_t image_at_ = 0;
  size_t image_bytes_ = 0;
  std::vector<ByteBuffer> memory_;
};

}  // namespace

std::unique_ptr<BareLoop> BareParse(const BareFlags& flags) {
  return std::make_unique<Loop>(flags);
}

}  // namespace recpack::bench
