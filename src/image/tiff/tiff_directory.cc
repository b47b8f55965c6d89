#include "src/image/tiff/tiff_directory.h"

#include <algorithm>

#include "src/image/tiff/tiff_tags.h"

namespace recpack {
namespace {

constexpr uint64_t kShort = 3, kLong = 4, kLong8 = 16;  // types of values

}  // namespace

uint64_t TiffDirectory::Read(size_t at, size_t width) const noexcept {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) {
    value = value << 8 | bytes_[little_ ? at + width - 1 - i : at + i];
  }
  return value;
}

// The header's offset of the directory, and how many entries are there.
bool TiffDirectory::FindEntries() noexcept {
  const size_t offset_at = big_ ? 8 : 4, offset_bytes = big_ ? 8 : 4;
  const size_t count_bytes = big_ ? 8 : 2, entry_bytes = big_ ? 20 : 12;
  if (bytes_.size() < offset_at + offset_bytes) return false;
  const uint64_t directory = Read(offset_at, offset_bytes);
  if (directory > bytes_.size() || bytes_.size() - directory < count_bytes) return false;
  first_ = directory + count_bytes;
  const uint64_t counted = Read(directory, count_bytes),
                 there = (bytes_.size() - first_) / entry_bytes;
  entries_ = std::min(counted, there);
  complete_ = counted <= there;
  return true;
}

std::optional<TiffDirectory> TiffDirectory::Find(ByteView tiff) noexcept {
  if (tiff.size() < 8 || (tiff[0] != 'I' && tiff[0] != 'M') || tiff[1] != tiff[0]) return {};
  TiffDirectory found(tiff, tiff[0] == 'I', false);
  found.big_ = found.Read(2, 2) == 43;
  if (!found.FindEntries()) return {};
  return found;
}

size_t TiffDirectory::FindEntry(uint16_t tag) const noexcept {
  const size_t entry_bytes = big_ ? 20 : 12;
  for (size_t i = 0; i < entries_; ++i) {
    const size_t entry = first_ + i * entry_bytes;
    if (Read(entry, 2) == tag) return entry;
  }
  return 0;
}

std::optional<uint64_t> TiffDirectory::Number(uint16_t tag) const noexcept {
  const size_t entry = FindEntry(tag), value_bytes = big_ ? 8 : 4;
  if (entry == 0) return {};
  const uint64_t type = Read(entry + 2, 2);
  if (type != kShort && type != kLong && (type != kLong8 || !big_)) return {};
  const size_t width = type == kShort ? 2 : type == kLong ? 4 : 8;
  const uint64_t count = Read(entry + 4, value_bytes);
  if (count == 0) return {};
  size_t at = entry + 4 + value_bytes;
  if (count > value_bytes / width) {  // more than there is room for: their offset
    const uint64_t offset = Read(at, value_bytes);
    if (offset > bytes_.size() || bytes_.size() - offset < width) return {};
    at = offset;
  }
  return Read(at, width);
}

int TiffDirectory::Orientation() const noexcept {
  const uint64_t value = Number(tiff::kOrientation).value_or(1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

}  // namespace recpack
