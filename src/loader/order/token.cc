#include "recpack/loader/token.h"

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/order/dotted_text.h"

namespace recpack {
namespace {

constexpr char kTokenName[] = "token";
constexpr char kTokenFormat[] = "recpack1";
constexpr size_t kTokenParts = 8;

}  // namespace

std::string TokenText(const ResumeToken& token) {
  return JoinDotted({kTokenFormat, std::to_string(kOrderVersion), token.digest,
                     OrderText(token.order), std::to_string(token.seed),
                     std::to_string(token.epoch), std::to_string(token.position),
                     std::to_string(token.substituted)});
}

ResumeToken ParseToken(const std::string& text) {
  const auto parts = SplitDotted(text, kTokenName, kTokenFormat, kTokenParts);
  if (parts[1] != std::to_string(kOrderVersion)) {
    throw Error(ErrorKind::kUnsupported, format("the token has order version {}", parts[1]), {},
                format("this program has version {}, whose order differs; use the version "
                       "that wrote it, or restart the epoch",
                       kOrderVersion));
  }
  return {.digest = parts[2],
          .order = ParseOrder(parts[3]),
          .seed = DottedNumber(parts[4], kTokenName),
          .epoch = DottedNumber(parts[5], kTokenName),
          .position = DottedNumber(parts[6], kTokenName),
          .substituted = DottedNumber(parts[7], kTokenName)};
}

}  // namespace recpack
