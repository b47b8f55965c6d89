#include "recpack/pipeline/token.h"

#include <charconv>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/crc32c.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr char kFormat[] = "recpack1";
constexpr size_t kFields = 9;

std::vector<std::string> SplitAtDots(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t dot; (dot = text.find('.', begin)) != text.npos; begin = dot + 1) {
    parts.push_back(text.substr(begin, dot - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

[[noreturn]] void Refuse(const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, "this is no token: " + why, {},
              "give it as it was printed, whole and unchanged");
}

uint64_t Number(const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) Refuse("'" + text + "' is no number");
  return value;
}

std::string CheckOf(const std::string& text) { return format("{:08x}", Crc32c(AsBytes(text))); }

}  // namespace

std::string TokenText(const ResumeToken& token) {
  const std::string text =
      format("{}.{}.{}.{}.{}.{}.{}.{}", kFormat, kOrderVersion, token.digest,
             OrderText(token.order), token.seed, token.epoch, token.position, token.substituted);
  return text + "." + CheckOf(text);
}

ResumeToken ParseToken(const std::string& text) {
  if (!text.starts_with("recpack")) Refuse("it does not begin with 'recpack'");
  const auto parts = SplitAtDots(text);
  if (parts[0] != kFormat) {
    throw Error(ErrorKind::kUnsupported, format("the token is of version '{}'", parts[0]), {},
                format("this program knows {}; use the version that wrote it", kFormat));
  }
  if (parts.size() != kFields) Refuse(format("it has {} parts of {}", parts.size(), kFields));
  if (const size_t dot = text.rfind('.'); CheckOf(text.substr(0, dot)) != parts.back()) {
    Refuse("its check digits do not match the rest");
  }
  if (parts[1] != std::to_string(kOrderVersion)) {
    throw Error(ErrorKind::kUnsupported, format("the token is of order version {}", parts[1]), {},
                format("this program has version {}: the order would be another; use the version "
                       "that wrote it, or begin the epoch anew",
                       kOrderVersion));
  }
  return {.digest = parts[2],
          .order = ParseOrder(parts[3]),
          .seed = Number(parts[4]),
          .epoch = Number(parts[5]),
          .position = Number(parts[6]),
          .substituted = Number(parts[7])};
}

}  // namespace recpack
