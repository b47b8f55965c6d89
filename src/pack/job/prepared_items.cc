#include "src/pack/job/prepared_items.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"

namespace recpack::pack {
namespace {

constexpr size_t kMostKept = size_t{4} << 20;  // largest buffer that is kept for reuse [bytes]

}  // namespace

void PreparedItems::Start(size_t split) {
  split_ = split;
  items_.clear();
  ends_.clear();
  used_ = 0;
  if (frames_.size() > kMostKept) frames_ = {};
}

void PreparedItems::Encode(Sample& sample, PreparedItem& item) {
  const bool finished = sample.is_finished();
  const size_t size = finished ? sample.payload.size() : sample.features.ByteSize();
  const size_t end = used_ + kFrameBytes + size;
  if (end > frames_.size()) frames_.resize(std::max(end, 2 * frames_.size()));
  uint8_t* frame = frames_.data() + used_;
  uint8_t* payload = frame + kFrameHeaderBytes;
  if (finished) {
    std::ranges::copy(sample.payload, payload);
  } else {
    sample.features.SerializeTo(payload);
  }
  StoreFrameHeader(frame, size);
  StoreFrameFooter(payload + size, {payload, size});
  used_ = end;
  item.label = sample.label;
}

void PreparedItems::Prepare(ItemReader& reader, Sample& sample) {
  for (const PreparedItem& item : items_) reader.Announce(split_, item.item);
  for (PreparedItem& item : items_) {
    bool read = false;
    try {
      sample.Clear();
      reader.Read(split_, item.item, sample);
      read = true;
      Encode(sample, item);
    } catch (const Error&) {
      (read ? item.encode_error : item.read_error) = std::current_exception();
    }
    ends_.push_back(used_);
  }
  size_t begin = 0;  // views are set last, since frames_ may move while it grows
  for (size_t i = 0; i < items_.size(); begin = ends_[i++]) {
    items_[i].frame = ByteView(frames_).subspan(begin, ends_[i] - begin);
  }
}

}  // namespace recpack::pack
