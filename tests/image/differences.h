// Comparisons of decoded images, and the kinds of errors of those that are not.
#pragma once

#include "recpack/base/error.h"
#include "recpack/image/decode.h"

namespace recpack {

// The kind of error that decoding throws; a failed test if it throws none.
ErrorKind DecodeErrorKind(ByteView bytes, const DecodeOptions& options = {});

// Largest difference of a channel value; -1 if the shapes differ.
int LargestDifference(const Image& a, const Image& b);

}  // namespace recpack
