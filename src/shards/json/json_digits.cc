#include "src/shards/json/json_digits.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "recpack/base/text.h"

namespace recpack {
namespace {

using ParsedJson = nlohmann::json;

// Stores numbers that are not 64-bit integers as binary values, which JSON text cannot contain.
class DigitsBuilder final : public nlohmann::json_sax<ParsedJson> {
 public:
  ParsedJson Take() { return std::move(root_); }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(int64_t value) override { return Add(value); }
  bool number_unsigned(uint64_t value) override { return Add(value); }
  bool number_float(double, const std::string& digits) override {
    return Add(ParsedJson::binary(std::vector<uint8_t>(digits.begin(), digits.end())));
  }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(size_t) override { return Open(ParsedJson::object()); }
  bool key(std::string& name) override {
    member_ = &(*open_.back())[std::move(name)];
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(ParsedJson::array()); }
  bool end_array() override { return Close(); }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  ParsedJson& Put(ParsedJson&& value) {
    if (open_.empty()) return root_ = std::move(value);
    if (!open_.back()->is_array()) return *member_ = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->back();
  }

  bool Add(ParsedJson&& value) {
    Put(std::move(value));
    return true;
  }

  bool Open(ParsedJson&& value) {
    if (open_.size() >= static_cast<size_t>(kMostJsonLevels)) return false;
    open_.push_back(&Put(std::move(value)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  ParsedJson root_;
  std::vector<ParsedJson*> open_;  // open containers, outermost first; they do not move while open
  ParsedJson* member_ = nullptr;   // member of the innermost object whose value comes next
};

}  // namespace

ParsedJson ParseJsonDigits(std::string_view text) {
  DigitsBuilder builder;
  if (!ParsedJson::sax_parse(text, &builder)) return ParsedJson(ParsedJson::value_t::discarded);
  return builder.Take();
}

bool IsNumberOfDigits(const ParsedJson& value) { return value.is_number() || value.is_binary(); }

std::string DumpDigits(const ParsedJson& value) {
  if (value.is_binary()) return {value.get_binary().begin(), value.get_binary().end()};
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!text.empty()) text += ',';
    if (value.is_object()) text += ParsedJson(key).dump() + ':';
    text += DumpDigits(element);
  }
  return value.is_object() ? '{' + text + '}' : '[' + text + ']';
}

}  // namespace recpack
