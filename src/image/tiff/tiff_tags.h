// Numbers of TIFF 6.0: tags of the first directory, and the values that matter here.
#pragma once

#include <cstdint>

namespace recpack::tiff {

inline constexpr uint16_t kSubfile = 254, kDngVersion = 50706;
inline constexpr uint16_t kWidth = 256, kHeight = 257, kBits = 258, kPhotometric = 262,
                          kOrientation = 274, kSamples = 277;

enum Photometric : uint16_t {
  kWhiteIsZero = 0,
  kBlackIsZero = 1,
  kRgb = 2,
  kPalette = 3,
  kSeparated = 5,
  kYCbCr = 6
};

// Channels that hold colour; 0 for what is not decoded.
constexpr int ColourChannels(uint64_t photometric) {
  switch (photometric) {
    case kWhiteIsZero:
    case kBlackIsZero:
    case kPalette:
      return 1;
    case kRgb:
    case kYCbCr:
      return 3;
    case kSeparated:
      return 4;
    default:
      return 0;
  }
}

}  // namespace recpack::tiff
