// Parser of JPEG marker segments up to the first scan (ITU-T T.81, annex B).
#pragma once

#include <cstddef>
#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

namespace jpeg_marker {
inline constexpr uint8_t kSof0 = 0xC0;
inline constexpr uint8_t kSof1 = 0xC1;
inline constexpr uint8_t kSof2 = 0xC2;
inline constexpr uint8_t kDht = 0xC4;
inline constexpr uint8_t kRst0 = 0xD0;
inline constexpr uint8_t kSoi = 0xD8;
inline constexpr uint8_t kEoi = 0xD9;
inline constexpr uint8_t kSos = 0xDA;
inline constexpr uint8_t kDqt = 0xDB;
inline constexpr uint8_t kDri = 0xDD;
inline constexpr uint8_t kApp0 = 0xE0;
inline constexpr uint8_t kApp1 = 0xE1;
inline constexpr uint8_t kApp14 = 0xEE;
inline constexpr uint8_t kTem = 0x01;
}  // namespace jpeg_marker

// Tells whether this is a start-of-frame marker: C0..CF except DHT, JPG and DAC.
bool IsStartOfFrame(uint8_t marker) noexcept;

struct JpegSegment {
  uint8_t marker = 0;
  size_t offset = 0;  // offset of the marker's FF
  size_t end = 0;     // one past the segment's last byte
  ByteView payload;   // data after the length; empty for markers without a length
};

// Iterates over the segments after SOI, in file order. Throws Error (kCorrupt) if the bytes do not
// begin with SOI or end inside a segment. Skips bytes between segments, as libjpeg does.
class JpegSegments {
 public:
  explicit JpegSegments(ByteView bytes);
  JpegSegment Next();

 private:
  ByteView bytes_;
  size_t position_ = 2;
};

struct JpegFrame {
  struct Component {
    uint8_t id = 0, h = 1, v = 1;  // sampling factors 1..4
  };
  uint8_t marker = 0;  // SOF marker
  int precision = 8;   // bits per sample
  int width = 0;
  int height = 0;  // 0: follows the first scan
  int component_count = 0;
  Component components[4];  // the first four
};

// Parses an SOF segment. Throws Error (kCorrupt) if it is too short or contradicts itself.
JpegFrame ParseJpegFrame(const JpegSegment& segment);

inline uint16_t BigEndian16(const uint8_t* from) noexcept {
  return static_cast<uint16_t>(from[0] << 8 | from[1]);
}
inline uint32_t BigEndian32(const uint8_t* from) noexcept {
  return uint32_t{BigEndian16(from)} << 16 | BigEndian16(from + 2);
}

}  // namespace recpack
