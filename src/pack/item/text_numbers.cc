#include "src/pack/item/text_numbers.h"

#include "recpack/base/error.h"

namespace recpack::pack {

std::optional<uint32_t> TextNumbers::Find(std::string_view text) const {
  const auto found = numbers_.find(text);
  if (found == numbers_.end()) return {};
  return found->second;
}

uint32_t TextNumbers::Number(std::string_view text) {
  if (const auto number = Find(text)) return *number;
  if (texts_.size() == UINT32_MAX) {
    throw Error(ErrorKind::kUnsupported, "more than 4 billion distinct texts");
  }
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.push_back(&numbers_.emplace(std::string(text), number).first->first);
  return number;
}

}  // namespace recpack::pack
