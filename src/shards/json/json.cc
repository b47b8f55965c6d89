#include "src/shards/json/json.h"

#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack {
namespace {

const ParsedJson& MemberIn(const ParsedJson& object, const char* name, const std::string& path) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found != object.end()) return *found;
  throw Error(
      ErrorKind::kCorrupt,
      format("lacks the member \"{}\" of {}", name,
             object.dump(-1, ' ', false, ParsedJson::error_handler_t::replace).substr(0, 80)),
      {.path = path});
}

[[noreturn]] void RefuseMember(const char* name, const ParsedJson& value, const char* expected,
                               const std::string& path) {
  throw Error(ErrorKind::kCorrupt,
              format("gives {} as \"{}\", where {} is expected", value.type_name(), name, expected),
              {.path = path});
}

}  // namespace

std::string JsonReason(const nlohmann::detail::exception& error) {
  if (const auto* parse = dynamic_cast<const nlohmann::detail::parse_error*>(&error)) {
    return format("is not valid JSON: syntax error at byte {}", parse->byte);
  }
  // "[json.exception.type_error.302] (/splits/train) type must be array, but is string"
  std::string text = error.what();
  if (const size_t end = text.find("] "); text.starts_with('[') && end != text.npos) {
    text.erase(0, end + 2);
  }
  std::string member = "a member";
  if (const size_t end = text.find(") "); text.starts_with('(') && end != text.npos) {
    member = "the member " + text.substr(1, end - 1);
    text.erase(0, end + 2);
  }
  return format("is not the JSON expected: {}: {}", member, text);
}

void RefuseDeepJson(int depth, const std::string& path) {
  if (depth < kMostJsonLevels) return;
  throw Error(ErrorKind::kCorrupt, format("is JSON nested deeper than {} levels", kMostJsonLevels),
              {.path = path});
}

uint64_t NumberIn(const ParsedJson& object, const char* name, const std::string& path) {
  const ParsedJson& value = MemberIn(object, name, path);
  if (!value.is_number_unsigned()) RefuseMember(name, value, "a whole number", path);
  return value.get<uint64_t>();
}

std::string TextIn(const ParsedJson& object, const char* name, const std::string& path) {
  const ParsedJson& value = MemberIn(object, name, path);
  if (!value.is_string()) RefuseMember(name, value, "text", path);
  return value.get<std::string>();
}

const ParsedJson& ObjectIn(const ParsedJson& object, const char* name, const std::string& path) {
  const ParsedJson& value = MemberIn(object, name, path);
  if (!value.is_object()) RefuseMember(name, value, "an object", path);
  return value;
}

std::vector<std::string> TextsIn(const ParsedJson& object, const char* name,
                                 const std::string& path) {
  std::vector<std::string> texts;
  const auto found = object.find(name);
  if (found == object.end()) return texts;
  if (!found->is_array()) RefuseMember(name, *found, "a list of texts", path);
  for (const ParsedJson& text : *found) {
    if (!text.is_string()) RefuseMember(name, text, "a list of texts", path);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace recpack
