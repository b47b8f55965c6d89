#include "src/pack/sources/cifar/pickle_stream.h"

#include <algorithm>

#include "src/base/format.h"

namespace recpack::pack {

PickleStream::PickleStream(const PickleInput& input, Buffers& buffers)
    : input_(input),
      buffers_(buffers),
      size_(input.file != nullptr ? input.file->Size() : input.memory.size()) {
  if (input.file != nullptr) return;
  piece_ = next_ = input.memory.data();
  end_ = piece_ + size_;
}

void PickleStream::Corrupt(uint64_t at, const std::string& reason) const {
  throw Error(ErrorKind::kCorrupt, reason, {.path = input_.path, .offset = at});
}

void PickleStream::Unsupported(uint64_t at, const std::string& reason,
                               const std::string& advice) const {
  throw Error(ErrorKind::kUnsupported, reason, {.path = input_.path, .offset = at}, advice);
}

void PickleStream::CheckRoom(uint64_t size) const {
  const uint64_t left = size_ - offset();
  if (size <= left) return;
  Corrupt(offset(),
          format("the pickle ends where {} more bytes should follow (it has {})", size, left));
}

std::unique_ptr<uint8_t[]> PickleStream::ReadPiece(uint64_t offset, uint64_t size) const {
  auto piece = std::make_unique_for_overwrite<uint8_t[]>(size);
  const size_t got = input_.file->ReadAt(offset, {piece.get(), size});
  if (got == size) return piece;
  throw Error(
      ErrorKind::kIo,
      format("ends at byte {}, but was {} bytes long when it was opened", offset + got, size_),
      {.path = input_.path}, "pack again when no other program writes to it");
}

void PickleStream::Refill(uint64_t size) {
  CheckRoom(size);
  const uint64_t from = offset();
  const uint64_t piece_size = std::min<uint64_t>(std::max(size, kPickleBulkBytes), size_ - from);
  buffers_.push_back(ReadPiece(from, piece_size));
  piece_ = next_ = buffers_.back().get();
  piece_offset_ = from;
  end_ = piece_ + piece_size;
}

PickleExtent PickleStream::TakeExtent(uint64_t size) {
  CheckRoom(size);
  const uint64_t from = offset();
  if (input_.file == nullptr || size < kPickleBulkBytes) return {from, size, Take(size)};
  piece_offset_ = from + size;
  piece_ = next_ = end_ = nullptr;
  return {from, size, nullptr};
}

PickleExtent PickleStream::TakeLine() {
  const uint64_t from = offset();
  uint64_t want = 0;
  for (;;) {
    const auto there = static_cast<uint64_t>(end_ - next_);
    const uint8_t* newline = std::find(next_ + std::min(want, there), end_, uint8_t{'\n'});
    if (newline != end_) {
      const auto size = static_cast<uint64_t>(newline - next_);
      return {from, size, Take(size + 1)};
    }
    if (from + there == size_) Corrupt(from, "the pickle ends within a line");
    want = there;
    Refill(std::min(std::max(there * 2, kPickleBulkBytes), size_ - from));
  }
}

const uint8_t* PickleStream::Load(const PickleExtent& extent,
                                  std::unique_ptr<uint8_t[]>& loaded) const {
  if (extent.data != nullptr || extent.size == 0) return extent.data;
  loaded = ReadPiece(extent.offset, extent.size);
  return loaded.get();
}

}  // namespace recpack::pack
