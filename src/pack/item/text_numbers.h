// Assigns numbers to strings, from 0 in the order of first appearance.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace recpack::pack {

// Memory: about 70 bytes per string, plus its text. Not thread-safe.
class TextNumbers {
 public:
  TextNumbers() = default;
  TextNumbers(TextNumbers&&) = default;
  TextNumbers& operator=(TextNumbers&&) = default;

  // Returns the number of the text; a new text gets the next one. Throws Error (kUnsupported) for
  // more than 2^32 - 1 texts.
  uint32_t Number(std::string_view text);

  // Returns nullopt if the text has no number.
  std::optional<uint32_t> Find(std::string_view text) const;

  size_t size() const noexcept { return texts_.size(); }
  const std::string& operator[](size_t number) const { return *texts_[number]; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> texts_;  // keys of numbers_, which do not move
};

}  // namespace recpack::pack
