#include "tests/pack/source_testing.h"

#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace recpack::pack {
namespace {

// A cursor over the Protocol Buffers wire format.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return bytes_.empty(); }

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_.at(0));
      bytes_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }

  std::string_view Message(uint64_t tag) {
    if (Varint() != (tag << 3 | 2)) throw std::runtime_error("unexpected tag");
    const uint64_t size = Varint();
    if (size > bytes_.size()) throw std::runtime_error("message too long");
    const std::string_view message = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return message;
  }

  uint64_t NextTag() const { return static_cast<uint8_t>(bytes_.at(0)) >> 3; }

 private:
  std::string_view bytes_;
};

void ParseFeature(const std::string& name, std::string_view feature, TestItem& item) {
  Wire kinds(feature);
  const uint64_t kind = kinds.NextTag();
  Wire list(kinds.Message(kind));
  if (kind == 1) {
    auto& values = item.bytes[name];
    while (!list.done()) values.emplace_back(list.Message(1));
    return;
  }
  const std::string_view packed = list.done() ? std::string_view() : list.Message(1);
  if (kind == 2) {
    auto& values = item.floats[name];
    values.resize(packed.size() / 4);
    std::memcpy(values.data(), packed.data(), packed.size());
    return;
  }
  Wire numbers(packed);
  auto& values = item.ints[name];
  while (!numbers.done()) values.push_back(static_cast<int64_t>(numbers.Varint()));
}

}  // namespace

std::vector<std::string> TestItem::names() const {
  std::map<std::string, int> all;
  for (const auto& feature : bytes) all[feature.first];
  for (const auto& feature : ints) all[feature.first];
  for (const auto& feature : floats) all[feature.first];
  std::vector<std::string> names;
  for (const auto& feature : all) names.push_back(feature.first);
  return names;
}

const std::string& TestItem::text(const std::string& name) const { return bytes.at(name).at(0); }

int64_t TestItem::number(const std::string& name) const { return ints.at(name).at(0); }

TestItem ParseTestItem(std::string_view record) {
  TestItem item;
  Wire example(record);
  Wire features(example.Message(1));
  while (!features.done()) {
    Wire entry(features.Message(1));
    const std::string name(entry.Message(1));
    ParseFeature(name, entry.Message(2), item);
  }
  return item;
}

TestItem ReadItem(const Source& source, size_t split, uint64_t item) {
  Sample sample;
  const auto reader = source.NewReader();
  reader->Read(split, item, sample);
  std::string record(AsText(sample.payload));
  if (!sample.is_finished()) {
    record.resize(sample.features.ByteSize());
    sample.features.SerializeTo(reinterpret_cast<uint8_t*>(record.data()));
  }
  TestItem result = ParseTestItem(record);
  result.label = sample.label;
  return result;
}

std::vector<std::string> ItemNames(const Source& source, size_t split) {
  std::vector<std::string> names;
  for (uint64_t i = 0; i < source.splits().at(split).items; ++i) {
    names.push_back(source.ItemName(split, i));
  }
  return names;
}

void MakeFile(const std::string& path, std::string_view content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::string PngHeader(int width, int height) {
  std::string chunk = "IHDR";
  for (const int value : {width, height}) {
    for (const int shift : {24, 16, 8, 0}) chunk += static_cast<char>(value >> shift);
  }
  chunk += std::string("\x08\x00\x00\x00\x00", 5);
  const auto crc = static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size())));
  std::string png = std::string("\x89PNG\r\n\x1a\n\0\0\0\x0d", 12) + chunk;
  for (const int shift : {24, 16, 8, 0}) png += static_cast<char>(crc >> shift);
  return png;
}

}  // namespace recpack::pack
