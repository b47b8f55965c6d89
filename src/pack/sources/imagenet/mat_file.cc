#include "src/pack/sources/imagenet/mat_file.h"

#include <algorithm>
#include <optional>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/item/unpack.h"

namespace recpack::pack {
namespace {

constexpr size_t kHeaderBytes = 128;
constexpr size_t kMaxInflated = size_t{64} << 20;

enum DataType : uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUint64 = 13,
  kMatrix = 14,
  kCompressed = 15,
  kUtf8 = 16,
};

enum ArrayClass : uint8_t { kStructClass = 2, kCharClass = 4, kDoubleClass = 6, kLastNumber = 15 };

[[noreturn]] void FailCorrupt(const char* why) {
  throw Error(ErrorKind::kCorrupt, format("is not a valid MAT-file: {}", why));
}

struct Element {
  uint32_t type = 0;
  ByteView data;
};

// Iterates over a sequence of data elements.
class Elements {
 public:
  explicit Elements(ByteView bytes) : bytes_(bytes) {}

  bool done() const { return bytes_.empty(); }

  Element Next() {
    const uint32_t first = LoadLittleEndian<uint32_t>(Take(4).data());
    if (first >> 16 != 0) return Small(first & 0xffff, first >> 16);
    const uint32_t size = LoadLittleEndian<uint32_t>(Take(4).data());
    const Element element = {first, Take(size)};
    // Padded to 8 bytes unless compressed; the padding of the last one may be missing.
    if (first != kCompressed) Take(std::min<size_t>((8 - size % 8) % 8, bytes_.size()));
    return element;
  }

  ByteView Next(uint32_t type, const char* what) {
    const Element element = Next();
    if (element.type != type) FailCorrupt(what);
    return element.data;
  }

 private:
  Element Small(uint32_t type, uint32_t size) {
    if (size > 4) FailCorrupt("a small element is too long");
    return {type, Take(4).first(size)};
  }

  ByteView Take(size_t size) {
    if (size > bytes_.size()) FailCorrupt("an element ends after its parent");
    const ByteView taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  ByteView bytes_;
};

template <typename T>
void AppendNumbers(ByteView data, std::vector<double>& numbers) {
  for (size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
    numbers.push_back(static_cast<double>(LoadLittleEndian<T>(data.data() + i)));
  }
}

std::vector<double> Numbers(const Element& element) {
  std::vector<double> numbers;
  switch (element.type) {
    case kInt8:
      AppendNumbers<int8_t>(element.data, numbers);
      break;
    case kUint8:
    case kUtf8:
      AppendNumbers<uint8_t>(element.data, numbers);
      break;
    case kInt16:
      AppendNumbers<int16_t>(element.data, numbers);
      break;
    case kUint16:
      AppendNumbers<uint16_t>(element.data, numbers);
      break;
    case kInt32:
      AppendNumbers<int32_t>(element.data, numbers);
      break;
    case kUint32:
      AppendNumbers<uint32_t>(element.data, numbers);
      break;
    case kSingle:
      AppendNumbers<float>(element.data, numbers);
      break;
    case kDouble:
      AppendNumbers<double>(element.data, numbers);
      break;
    case kInt64:
      AppendNumbers<int64_t>(element.data, numbers);
      break;
    case kUint64:
      AppendNumbers<uint64_t>(element.data, numbers);
      break;
    default:
      FailCorrupt("numbers have an unknown type");
  }
  return numbers;
}

// The common first parts of an array.
struct ArrayHead {
  uint8_t array_class = 0;
  uint64_t count = 1;  // elements: the product of the dimensions
  std::string_view name;
};

ArrayHead ReadHead(Elements& parts) {
  ArrayHead head;
  const ByteView flags = parts.Next(kUint32, "array flags are missing");
  if (flags.size() != 8) FailCorrupt("array flags are too short");
  head.array_class = flags[0];
  const std::vector<double> sizes = Numbers({kInt32, parts.Next(kInt32, "no dimensions")});
  for (const double size : sizes) {
    const bool fits = size >= 0 && static_cast<double>(head.count) * size < 1e9;
    if (!fits) FailCorrupt("dimensions are too large");
    head.count *= static_cast<uint64_t>(size);
  }
  head.name = AsText(parts.Next(kInt8, "no name"));
  return head;
}

MatCell ReadCell(ByteView matrix) {
  MatCell cell;
  if (matrix.empty()) return cell;
  Elements parts(matrix);
  const ArrayHead head = ReadHead(parts);
  const bool is_text = head.array_class == kCharClass;
  const bool is_number = head.array_class >= kDoubleClass && head.array_class <= kLastNumber;
  if (parts.done() || (!is_text && !is_number)) return cell;
  std::vector<double> numbers = Numbers(parts.Next());
  if (!is_text) {
    cell.numbers = std::move(numbers);
    return cell;
  }
  for (const double c : numbers) cell.text += c >= 32 && c < 127 ? static_cast<char>(c) : '?';
  return cell;
}

std::vector<std::string> ReadFieldNames(Elements& parts) {
  const ByteView size = parts.Next(kInt32, "no length of field names");
  if (size.size() != 4) FailCorrupt("no length of field names");
  const auto length = LoadLittleEndian<uint32_t>(size.data());
  const std::string_view names = AsText(parts.Next(kInt8, "no field names"));
  if (length == 0 || names.size() % length != 0) FailCorrupt("field names are cut off");
  std::vector<std::string> fields;
  for (size_t i = 0; i < names.size(); i += length) {
    const std::string_view name = names.substr(i, length);
    fields.emplace_back(name.substr(0, name.find('\0')));
  }
  return fields;
}

std::optional<MatStruct> ReadIfWanted(ByteView matrix, std::string_view variable) {
  Elements parts(matrix);
  const ArrayHead head = ReadHead(parts);
  if (head.name != variable) return {};
  if (head.array_class != kStructClass) FailCorrupt("the variable is not a structure array");
  MatStruct array;
  array.fields = ReadFieldNames(parts);
  array.elements = head.count;
  // Every cell takes at least eight bytes, so a wrong count soon reaches the end.
  for (uint64_t i = 0; i < head.count * array.fields.size(); ++i) {
    array.cells.push_back(ReadCell(parts.Next(kMatrix, "a field is not an array")));
  }
  return array;
}

std::optional<MatStruct> ReadVariable(const Element& element, std::string_view variable) {
  if (element.type == kMatrix) return ReadIfWanted(element.data, variable);
  if (element.type != kCompressed) return {};
  const ByteBuffer inflated = InflateZlib(element.data, kMaxInflated);
  const Element inner = Elements(inflated).Next();
  if (inner.type != kMatrix) return {};
  return ReadIfWanted(inner.data, variable);
}

}  // namespace

size_t MatStruct::FieldIndex(std::string_view field) const {
  const auto found = std::ranges::find(fields, field);
  if (found == fields.end()) {
    throw Error(ErrorKind::kCorrupt, format("has no field called {}", field));
  }
  return static_cast<size_t>(found - fields.begin());
}

MatStruct ReadMatStruct(ByteView file, std::string_view variable) {
  if (file.size() < kHeaderBytes) FailCorrupt("it is too short");
  const std::string_view version = AsText(file.subspan(kHeaderBytes - 4, 4));
  if (version != std::string_view("\x00\x01IM", 4)) {
    throw Error(ErrorKind::kUnsupported, "is not a little-endian MAT-file of level 5");
  }
  Elements elements(file.subspan(kHeaderBytes));
  while (!elements.done()) {
    if (auto array = ReadVariable(elements.Next(), variable)) return std::move(*array);
  }
  throw Error(ErrorKind::kNotFound, format("holds no variable called {}", variable));
}

}  // namespace recpack::pack
