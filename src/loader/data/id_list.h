// Compact list of record ordinals: 4 bytes each if that is enough, otherwise 8.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace recpack {

class IdList {
 public:
  // For ordinals below `records`.
  explicit IdList(uint64_t records) {
    if (records > uint64_t{1} << 32) ids_ = std::vector<uint64_t>();
  }

  void Reserve(size_t count) {
    std::visit([&](auto& ids) { ids.reserve(count); }, ids_);
  }
  void Add(uint64_t id) {
    std::visit([&]<typename T>(std::vector<T>& ids) { ids.push_back(static_cast<T>(id)); }, ids_);
  }
  uint64_t size() const noexcept {
    return std::visit([](const auto& ids) { return uint64_t{ids.size()}; }, ids_);
  }
  uint64_t operator[](uint64_t i) const noexcept {
    const auto* const small = std::get_if<std::vector<uint32_t>>(&ids_);
    return small != nullptr ? (*small)[i] : (*std::get_if<std::vector<uint64_t>>(&ids_))[i];
  }

 private:
  std::variant<std::vector<uint32_t>, std::vector<uint64_t>> ids_;
};

}  // namespace recpack
