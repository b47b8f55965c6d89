#include "src/train/checkpoint/safetensors_header.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

using Json = nlohmann::json;

constexpr char kMetadataName[] = "__metadata__";
constexpr int kMaxDepth = 2;  // of the file's object 0, an array 1, its shape 2
constexpr char kBringAgain[] = "copy or write the file again";

struct TypeName {
  ElementType type;
  const char* name;
};
constexpr TypeName kTypes[] = {{ElementType::kF32, "F32"}, {ElementType::kBf16, "BF16"},
                               {ElementType::kF16, "F16"}, {ElementType::kI64, "I64"},
                               {ElementType::kI32, "I32"}, {ElementType::kU8, "U8"},
                               {ElementType::kU64, "U64"}};

const char* StoredName(ElementType type) {
  for (const auto& known : kTypes) {
    if (known.type == type) return known.name;
  }
  return "";  // a ElementType missing from the table; tests write all of them
}

std::string Quoted(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw Error(ErrorKind::kInvalidArgument, "a name or metadata text is not UTF-8", {},
                "name arrays in UTF-8");
  }
}

std::string MetadataText(const ArrayMetadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    text += (text.empty() ? "" : ",") + Quoted(key) + ":" + Quoted(value);
  }
  return format("\"{}\":{{{}}}", kMetadataName, text);
}

std::string EntryText(const ArrayEntry& array) {
  std::string shape;
  for (const int64_t size : array.shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
  return format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", Quoted(array.name),
                StoredName(array.type), shape, array.begin, array.end);
}

// Reads the header of one file.
class Parser {
 public:
  Parser(std::string_view text, uint64_t data_bytes, const std::string& path)
      : text_(text), data_bytes_(data_bytes), path_(path) {}

  SafetensorsHeader Parse() const {
    SafetensorsHeader header;
    const Json json = ParseObject();
    for (const auto& [name, value] : json.items()) {
      if (name == kMetadataName) {
        header.metadata = Metadata(value);
      } else {
        header.arrays.push_back(Entry(name, value));
      }
    }
    std::sort(header.arrays.begin(), header.arrays.end(), [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    CheckThatTheyFillTheData(header.arrays);
    return header;
  }

 private:
  [[noreturn]] void Damaged(const std::string& reason, uint64_t offset) const {
    throw Error(ErrorKind::kCorrupt, reason, {.path = path_, .offset = offset}, kBringAgain);
  }

  [[noreturn]] void Damaged(const std::string& reason, const std::string& name) const {
    Damaged(reason, Offset(name));
  }

  // Offset of a name in the header, or the header's start if the name is spelled differently there.
  uint64_t Offset(const std::string& name) const {
    const size_t at = text_.find(Json(name).dump());
    return kHeaderLengthBytes + (at == std::string_view::npos ? 0 : at);
  }

  Json ParseObject() const {
    // nlohmann would skip a byte order mark.
    if (!text_.starts_with('{')) Damaged("the header is not a JSON object", kHeaderLengthBytes);
    std::vector<std::set<std::string>> keys;  // of the open objects
    const auto watch = [&](int depth, Json::parse_event_t event, const Json& value) {
      Watch(depth, event, value, keys);
      return true;
    };
    try {
      return Json::parse(text_, watch);
    } catch (const Json::parse_error& error) {
      // nlohmann counts bytes from 1.
      Damaged("the header is not JSON from here on",
              kHeaderLengthBytes + std::max<uint64_t>(error.byte, 1) - 1);
    } catch (const Json::exception&) {
      Damaged("the header is not JSON: a number is out of range", kHeaderLengthBytes);
    }
  }

  // nlohmann silently takes the last of equal keys, and any depth.
  void Watch(int depth, Json::parse_event_t event, const Json& value,
             std::vector<std::set<std::string>>& keys) const {
    using Event = Json::parse_event_t;
    if (depth > kMaxDepth && (event == Event::object_start || event == Event::array_start)) {
      Damaged("the header is nested too deeply", kHeaderLengthBytes);
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event != Event::key) return;
    const auto& key = value.get_ref<const std::string&>();
    if (!keys.back().insert(key).second) Damaged(format("the header has '{}' twice", key), key);
  }

  ArrayMetadata Metadata(const Json& json) const {
    ArrayMetadata metadata;
    if (!json.is_object()) Damaged("the metadata is not a JSON object", kMetadataName);
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string())
        Damaged(format("the metadata value of '{}' is not a string", key), key);
      metadata[key] = value.get_ref<const std::string&>();
    }
    return metadata;
  }

  ArrayEntry Entry(const std::string& name, const Json& json) const {
    ArrayEntry array{.name = name, .type = Type(name, json), .shape = Sizes(name, json)};
    const std::vector<uint64_t> offsets = Numbers(name, json, "data_offsets");
    if (offsets.size() != 2 || offsets[1] < offsets[0]) {
      Damaged(format("array '{}' has \"data_offsets\" that are not its begin and end", name), name);
    }
    array.begin = offsets[0];
    array.end = offsets[1];
    CheckSize(array);
    return array;
  }

  const Json& Member(const std::string& name, const Json& json, const char* member) const {
    if (json.is_object() && json.contains(member)) return json.at(member);
    Damaged(format("array '{}' lacks \"{}\"", name, member), name);
  }

  ElementType Type(const std::string& name, const Json& json) const {
    const Json& type = Member(name, json, "dtype");
    for (const auto& known : kTypes) {
      if (type == known.name) return known.type;
    }
    throw Error(
        ErrorKind::kUnsupported, format("array '{}' has the type {}", name, type.dump()),
        {.path = path_, .offset = Offset(name)},
        "convert it to one of " + JoinNames(kTypes, [](const auto& known) { return known.name; }));
  }

  std::vector<uint64_t> Numbers(const std::string& name, const Json& json,
                                const char* member) const {
    const Json& list = Member(name, json, member);
    bool good = list.is_array();
    for (size_t i = 0; good && i < list.size(); ++i) good = list[i].is_number_unsigned();
    if (!good) Damaged(format("\"{1}\" of array '{0}' is not a list of sizes", name, member), name);
    return list.get<std::vector<uint64_t>>();
  }

  // Sizes whose product does not overflow in Elements().
  Shape Sizes(const std::string& name, const Json& json) const {
    Shape shape;
    int64_t elements = 1;
    for (const uint64_t size : Numbers(name, json, "shape")) {
      const bool fits = size <= INT64_MAX &&
                        !__builtin_mul_overflow(elements, static_cast<int64_t>(size), &elements);
      if (!fits) Damaged(format("array '{}' has too many elements", name), name);
      shape.push_back(static_cast<int64_t>(size));
    }
    return shape;
  }

  void CheckSize(const ArrayEntry& array) const {
    uint64_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(static_cast<uint64_t>(Elements(array.shape)),
                                              ElementBytes(array.type), &bytes);
    if (fits && bytes == array.end - array.begin) return;
    Damaged(format("array '{}' of {} x {} has {} bytes of data", array.name, StoredName(array.type),
                   ShapeText(array.shape), array.end - array.begin),
            array.name);
  }

  // Arrays must cover the data from its first to its last byte, without gaps or overlap.
  void CheckThatTheyFillTheData(const std::vector<ArrayEntry>& arrays) const {
    uint64_t end = 0;
    for (const auto& array : arrays) {
      if (array.begin != end) {
        Damaged(format("array '{}' begins at byte {} of the data, but the one before it ends at {}",
                       array.name, array.begin, end),
                array.name);
      }
      end = array.end;
    }
    if (end == data_bytes_) return;
    Damaged(format("the arrays take {} bytes, but {} follow the header", end, data_bytes_),
            kHeaderLengthBytes + text_.size() + std::min(end, data_bytes_));
  }

  std::string_view text_;
  uint64_t data_bytes_;
  const std::string& path_;
};

}  // namespace

std::string HeaderText(const SafetensorsHeader& header) {
  std::string text = "{" + MetadataText(header.metadata);
  for (const auto& array : header.arrays) text += "," + EntryText(array);
  text += '}';
  const size_t end = kHeaderLengthBytes + text.size();
  text.append((kDataAlignment - end % kDataAlignment) % kDataAlignment, ' ');
  return text;
}

SafetensorsHeader ParseHeader(std::string_view text, uint64_t data_bytes, const std::string& path) {
  return Parser(text, data_bytes, path).Parse();
}

}  // namespace recpack::train
