#include "src/train/ops/ops.h"

#include <cmath>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/ops/exchange_stream.h"

namespace recpack::train {
namespace {

// Captured work for synchronous devices.
class KeptWork final : public CapturedWork {
 public:
  explicit KeptWork(std::function<void()> work) : work_(std::move(work)) {}
  void Replay() override { work_(); }

 private:
  const std::function<void()> work_;
};

class DoneReadback final : public Readback {
 public:
  DoneReadback(Ops& ops, size_t bytes) : ops_(ops), memory_(bytes) {}
  void Enqueue(size_t offset, const void* from, size_t bytes) override {
    ops_.Download(memory_.data() + offset, from, bytes);
  }
  const void* Wait() override { return memory_.data(); }

 private:
  Ops& ops_;
  std::vector<std::byte> memory_;
};

// Bytes of an image's channels that lie together: of one pixel in NHWC, of all in NCHW.
size_t TogetherBytes(const Tensor& tensor) {
  const Shape& shape = tensor.shape;
  const int64_t pixels = tensor.layout == ImageLayout::kNhwc ? 1 : shape[2] * shape[3];
  return static_cast<size_t>(shape[1] * pixels) * ElementBytes(tensor.type);
}

size_t CountRows(const Tensor& tensor) {
  const Shape& shape = tensor.shape;
  const int64_t pixels = tensor.layout == ImageLayout::kNhwc ? shape[2] * shape[3] : 1;
  return static_cast<size_t>(shape[0] * pixels);
}

}  // namespace

void Ops::Concatenate(std::span<const Tensor> parts, const Tensor& whole) {
  size_t begin = 0;
  for (const Tensor& part : parts) {
    const size_t bytes = TogetherBytes(part);
    CopyRows(whole.As<uint8_t>() + begin, part.data,
             {CountRows(whole), bytes, TogetherBytes(whole), bytes});
    begin += bytes;
  }
}

void Ops::Split(const Tensor& whole, std::span<const Tensor> parts) {
  size_t begin = 0;
  for (const Tensor& part : parts) {
    const size_t bytes = TogetherBytes(part);
    CopyRows(part.data, whole.As<uint8_t>() + begin,
             {CountRows(whole), bytes, bytes, TogetherBytes(whole)});
    begin += bytes;
  }
}

void Ops::CopyRows(void* to, const void* from, const RowCopy& rows) {
  for (size_t i = 0; i < rows.count; ++i) {
    Copy(static_cast<uint8_t*>(to) + i * rows.to_pitch,
         static_cast<const uint8_t*>(from) + i * rows.from_pitch, rows.bytes);
  }
}

UpdateRates ToRates(const AdamUpdate& update) {
  const auto step = static_cast<double>(update.step);
  return {update.rate, static_cast<float>(update.rate / (1 - std::pow(update.beta1, step))),
          static_cast<float>(1 / (1 - std::pow(update.beta2, step)))};
}

std::unique_ptr<CapturedWork> Ops::Capture(std::function<void()> work) {
  return std::make_unique<KeptWork>(std::move(work));
}

std::unique_ptr<Readback> Ops::MakeReadback(size_t bytes) {
  return std::make_unique<DoneReadback>(*this, bytes);
}

DeviceArray Ops::Allocate(size_t bytes) {
  DeviceArray array(this, AllocateBytes(bytes));
  Zero(array.data(), bytes);
  return array;
}

void Ops::CopyFrom(Ops& other, void*, const void*, size_t) {
  throw Error(ErrorKind::kUnsupported, Describe() + " cannot copy from " + other.Describe());
}

std::unique_ptr<ExchangeStream> Ops::MakeExchangeStream(size_t) { return nullptr; }

DeviceArray::DeviceArray(DeviceArray&& other) noexcept
    : ops_(other.ops_), data_(std::exchange(other.data_, nullptr)) {}

DeviceArray& DeviceArray::operator=(DeviceArray&& other) noexcept {
  std::swap(ops_, other.ops_);
  std::swap(data_, other.data_);
  return *this;
}

DeviceArray::~DeviceArray() {
  if (data_) ops_->FreeBytes(data_);
}

}  // namespace recpack::train
