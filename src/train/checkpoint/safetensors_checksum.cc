#include "src/train/checkpoint/safetensors_checksum.h"

namespace recpack::train {
namespace {

constexpr size_t kDigits = sizeof kNoChecksum - 1;

// Position of the digits as WriteSafetensors() writes them. The pattern cannot occur in other text,
// where the quotes would be escaped.
size_t Find(std::string_view head) {
  const std::string mark = std::string("\"") + kChecksumKey + "\":\"";
  const size_t at = head.find(mark);
  const size_t digits = at + mark.size();
  const bool whole = at != std::string_view::npos && head.size() > digits + kDigits &&
                     head[digits + kDigits] == '"';
  return whole ? digits : std::string_view::npos;
}

}  // namespace

void SetChecksum(std::string& head, std::string_view digits) {
  head.replace(Find(head), kDigits, digits);
}

std::optional<std::string> TakeChecksum(std::string& head) {
  const size_t at = Find(head);
  if (at == std::string::npos) return {};
  std::string digits = head.substr(at, kDigits);
  SetChecksum(head, kNoChecksum);
  return digits;
}

}  // namespace recpack::train
