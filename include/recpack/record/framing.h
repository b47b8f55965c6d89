// Record framing of TFRecord shards (docs/format/tfrecord.md).
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"
#include "recpack/record/crc32c.h"

namespace recpack {

inline constexpr size_t kFrameHeaderBytes = 12;  // u64 length, u32 masked CRC of the length
inline constexpr size_t kFrameFooterBytes = 4;   // u32 masked CRC of the payload
inline constexpr size_t kFrameBytes = kFrameHeaderBytes + kFrameFooterBytes;

// Limit of the writer and the index. Readers accept any length that fits the file.
inline constexpr uint64_t kMaxPayloadBytes = UINT32_MAX;

// Writes the kFrameHeaderBytes before a payload of `length` bytes.
inline void StoreFrameHeader(uint8_t* header, uint64_t length) noexcept {
  StoreLittleEndian(header, length);
  StoreLittleEndian(header + 8, MaskCrc(Crc32cOfU64(length)));
}

// Writes the kFrameFooterBytes after `payload`.
inline void StoreFrameFooter(uint8_t* footer, ByteView payload) noexcept {
  StoreLittleEndian(footer, MaskCrc(Crc32c(payload)));
}

// Returns the payload's length in bytes. Unchecked: call FrameHeaderHolds() first.
inline uint64_t FrameLength(const uint8_t* header) noexcept {
  return LoadLittleEndian<uint64_t>(header);
}

// Checks the CRC of the length.
inline bool FrameHeaderHolds(const uint8_t* header) noexcept {
  return LoadLittleEndian<uint32_t>(header + 8) == MaskCrc(Crc32cOfU64(FrameLength(header)));
}

// Returns the masked CRC of the payload that a frame stores behind it.
inline uint32_t FrameCrc(const uint8_t* footer) noexcept {
  return LoadLittleEndian<uint32_t>(footer);
}

// Checks the payload's CRC, which is read from the footer that must follow it in memory.
inline bool FramePayloadHolds(ByteView payload) noexcept {
  return FrameCrc(payload.data() + payload.size()) == MaskCrc(Crc32c(payload));
}

}  // namespace recpack
