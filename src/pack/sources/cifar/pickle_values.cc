// Opcodes of a pickle that hold a string or a number.
#include <bit>
#include <charconv>

#include "src/pack/sources/cifar/pickle_machine.h"
#include "src/pack/sources/cifar/pickle_text.h"

namespace recpack::pack {

bool PickleMachine::RunString(uint8_t opcode) {
  const auto take = [this](PickleKind kind, uint64_t size) {
    PushString(kind, stream_.TakeExtent(size));
    return true;
  };
  switch (opcode) {
    case 'U':  // SHORT_BINSTRING
    case 'C':  // SHORT_BINBYTES
      return take(PickleKind::kBytes, stream_.TakeNumber<uint8_t>());
    case 'T': {  // BINSTRING
      const auto size = stream_.TakeNumber<int32_t>();
      if (size < 0) Corrupt("a string has a negative length");
      return take(PickleKind::kBytes, static_cast<uint64_t>(size));
    }
    case 'B':  // BINBYTES
      return take(PickleKind::kBytes, stream_.TakeNumber<uint32_t>());
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      return take(PickleKind::kBytes, stream_.TakeNumber<uint64_t>());
    case 0x8c:  // SHORT_BINUNICODE
      return take(PickleKind::kText, stream_.TakeNumber<uint8_t>());
    case 'X':  // BINUNICODE
      return take(PickleKind::kText, stream_.TakeNumber<uint32_t>());
    case 0x8d:  // BINUNICODE8
      return take(PickleKind::kText, stream_.TakeNumber<uint64_t>());
    default:
      return false;
  }
}

void PickleMachine::PushLong(uint64_t size) {
  const uint8_t* bytes = stream_.Take(size);
  if (size > 8) {
    stream_.Unsupported(opcode_offset_, "holds an integer of more than 64 bits", "");
  }
  uint64_t value = size > 0 && bytes[size - 1] >= 0x80 ? ~uint64_t{0} : 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
  PushNumber(PickleKind::kInt, static_cast<int64_t>(value));
}

bool PickleMachine::RunNumber(uint8_t opcode) {
  switch (opcode) {
    case 'K':
      PushNumber(PickleKind::kInt, stream_.TakeNumber<uint8_t>());
      return true;
    case 'M':
      PushNumber(PickleKind::kInt, stream_.TakeNumber<uint16_t>());
      return true;
    case 'J':
      PushNumber(PickleKind::kInt, stream_.TakeNumber<int32_t>());
      return true;
    case 0x8a:  // LONG1
      PushLong(stream_.TakeNumber<uint8_t>());
      return true;
    case 0x8b: {  // LONG4
      const auto size = stream_.TakeNumber<int32_t>();
      if (size < 0) Corrupt("an integer has a negative length");
      PushLong(static_cast<uint64_t>(size));
      return true;
    }
    case 'G':  // BINFLOAT, big-endian
      PushNumber(PickleKind::kFloat,
                 static_cast<int64_t>(__builtin_bswap64(stream_.TakeNumber<uint64_t>())));
      return true;
    case 0x88:
    case 0x89:
      PushNumber(PickleKind::kBool, opcode == 0x88);
      return true;
    case 'N':
      PushNumber(PickleKind::kNone, 0);
      return true;
    default:
      return false;
  }
}

void PickleMachine::PushLiteral() {
  const PickleExtent line = stream_.TakeLine();
  std::string_view text = AsText({line.data, line.size});
  const char quote = text.empty() ? ' ' : text.front();
  if (text.size() < 2 || (quote != '\'' && quote != '"') || text.back() != quote) {
    Corrupt("a string literal has no quotes");
  }
  text = text.substr(1, text.size() - 2);
  uint8_t* decoded = NewDecoded(text.size());
  const auto size = DecodeStringLiteral(text, decoded);
  if (!size) Corrupt("a string literal has an invalid escape");
  PushDecoded(PickleKind::kBytes, decoded, *size);
}

bool PickleMachine::RunLine(uint8_t opcode) {
  if (opcode == 'S') {
    PushLiteral();
    return true;
  }
  if (opcode != 'V' && opcode != 'I' && opcode != 'L' && opcode != 'F') return false;
  const PickleExtent line = stream_.TakeLine();
  const std::string_view text = AsText({line.data, line.size});
  if (opcode == 'V') {
    uint8_t* decoded = NewDecoded(text.size() * 2);
    const auto size = DecodeRawUnicodeEscape(text, decoded);
    if (!size) Corrupt("unicode text has an incomplete \\u escape");
    PushDecoded(PickleKind::kText, decoded, *size);
  } else if (opcode == 'F') {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) Corrupt("a float is invalid");
    PushNumber(PickleKind::kFloat, std::bit_cast<int64_t>(value));
  } else if (opcode == 'I' && (text == "00" || text == "01")) {
    PushNumber(PickleKind::kBool, text == "01");
  } else {
    const auto value = ParseDecimal(text);
    if (!value) Corrupt("an integer is invalid or longer than 64 bits");
    PushNumber(PickleKind::kInt, *value);
  }
  return true;
}

}  // namespace recpack::pack
