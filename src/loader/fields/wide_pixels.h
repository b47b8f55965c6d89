// Finishes images of 16 bits a pixel, which decoding leaves as pairs of bytes.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/loader/image_field.h"

namespace recpack {

inline bool IsWide(const ImageField& field) noexcept { return field.decoding.bits == 16; }

// Writes the value of each pair (the low byte first) to `out`: as an i32, or normalised as an f32,
// whichever the field's type is. `out` has room for half as many elements as there are bytes.
void JoinPairs(ByteView pairs, const ImageField& field, uint8_t* out) noexcept;

}  // namespace recpack
