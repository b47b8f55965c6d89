#include "src/loader/order/dotted_text.h"

#include <charconv>

#include "recpack/base/error.h"
#include "recpack/record/crc32c.h"
#include "src/base/format.h"

namespace recpack {
namespace {

[[noreturn]] void RefuseText(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, format("invalid {}: {}", what, why), {},
              "give it as it was printed, whole and unchanged");
}

std::string CheckDigits(const std::string& text) { return format("{:08x}", Crc32c(AsBytes(text))); }

}  // namespace

std::string JoinDotted(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text + "." + CheckDigits(text);
}

std::vector<std::string> SplitDotted(const std::string& text, const std::string& what,
                                     const std::string& format_name, size_t count) {
  const std::string family = format_name.substr(0, format_name.find_last_not_of("0123456789") + 1);
  if (!text.starts_with(family)) RefuseText(what, format("it does not begin with '{}'", family));
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t dot; (dot = text.find('.', begin)) != text.npos; begin = dot + 1) {
    parts.push_back(text.substr(begin, dot - begin));
  }
  const std::string check = text.substr(begin);
  const std::string& found = parts.empty() ? check : parts.front();
  if (found != format_name) {
    throw Error(ErrorKind::kUnsupported, format("the {} has version '{}'", what, found), {},
                format("this program knows {}; use the version that wrote it", format_name));
  }
  if (parts.size() != count) {
    RefuseText(what, format("it has {} parts instead of {}", parts.size() + 1, count + 1));
  }
  if (CheckDigits(text.substr(0, begin - 1)) != check) {
    RefuseText(what, "its check digits do not match the rest");
  }
  return parts;
}

uint64_t DottedNumber(const std::string& part, const std::string& what) {
  uint64_t value = 0;
  const char* const end = part.data() + part.size();
  const auto result = std::from_chars(part.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    RefuseText(what, format("'{}' is not a number", part));
  }
  return value;
}

}  // namespace recpack
