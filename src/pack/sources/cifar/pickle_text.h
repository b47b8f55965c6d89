// The encoded strings of pickles, decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "recpack/base/bytes.h"

namespace recpack::pack {

// Each writes into `out` and returns the bytes written, or nothing where `text` is not valid. `out`
// needs room for as many bytes as `text` has, RawUnicodeEscape for twice as many.

// The body of a Python 2 string literal, without its quotes: \\ \' \" \n \r \t \a \b \f \v \xHH and
// octal escapes.
std::optional<size_t> DecodeStringLiteral(std::string_view text, uint8_t* out);

// Protocol 0's unicode, Latin-1 with \uXXXX and \UXXXXXXXX, as UTF-8.
std::optional<size_t> DecodeRawUnicodeEscape(std::string_view text, uint8_t* out);

// UTF-8 whose code points are all below 256, a byte each: str.encode('latin1').
std::optional<size_t> EncodeLatin1(ByteView utf8, uint8_t* out);

// A decimal integer that fills all of `text`, with the L that Python 2 writes after long ones.
std::optional<int64_t> ParseDecimal(std::string_view text);

}  // namespace recpack::pack
