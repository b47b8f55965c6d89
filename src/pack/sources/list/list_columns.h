// Chooses the columns of a list that are packed, and their types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/pack/sources/list/list_table.h"

namespace recpack::pack {

// Fills the parts of a table that say what its columns are.
class ListColumns {
 public:
  // Both must outlive this object. `table` needs its format only.
  ListColumns(ListTable& table, const ListOptions& options) : table_(table), options_(options) {}

  // Learns from a row's values which types the columns need. Throws Error
  // (kInvalidArgument) where JSON values mix text and numbers.
  void Widen(const ListCells& cells, uint32_t line);

  // Sets the columns, types and features of the table, once all rows were learned. Throws Error
  // (kInvalidArgument) for missing columns and values that do not match their type.
  void Choose();

 private:
  struct Seen {
    bool any = false;
    ListType type = ListType::kInt64;
    uint32_t line = 0;      // first line with a value of that type
    std::string too_large;  // first whole number beyond 2^53
    uint32_t too_large_line = 0;
    std::string beyond_float;  // first number that is 0 or infinite as a float
    uint32_t beyond_float_line = 0;
  };

  static void LookForLosses(const std::vector<std::string>& numbers, uint32_t line, Seen& seen);
  void ApplyTypes();
  void CheckNumbers(size_t column) const;
  void CheckName(const std::string& name) const;
  void CheckLabelType() const;
  size_t Column(const std::string& name) const;
  std::optional<size_t> FindAny(const std::string& names) const;
  std::optional<size_t> Mapped(const char* target, const char* usual) const;
  const char* FileTarget() const;
  void UseOtherColumns();
  void UseMappedColumns();

  ListTable& table_;
  const ListOptions& options_;
  std::vector<Seen> seen_;  // by column
};

}  // namespace recpack::pack
