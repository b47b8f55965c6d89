// Decodes the encoded strings of pickles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "recpack/base/bytes.h"

namespace recpack::pack {

// Each function writes to `out` and returns the number of bytes, or nullopt if `text` is invalid.
// `out` needs room for as many bytes as `text` has; DecodeRawUnicodeEscape() needs twice as many.

// Decodes the body of a Python 2 string literal, without its quotes: \\ \' \" \n \r \t \a \b \f \v
// \xHH and octal escapes.
std::optional<size_t> DecodeStringLiteral(std::string_view text, uint8_t* out);

// Decodes protocol 0's unicode, Latin-1 with \uXXXX and \UXXXXXXXX, to UTF-8.
std::optional<size_t> DecodeRawUnicodeEscape(std::string_view text, uint8_t* out);

// Encodes UTF-8 with code points below 256 as one byte each, as str.encode('latin1') does.
std::optional<size_t> EncodeLatin1(ByteView utf8, uint8_t* out);

// Parses a decimal integer that spans all of `text`, optionally with Python 2's L suffix.
std::optional<int64_t> ParseDecimal(std::string_view text);

}  // namespace recpack::pack
