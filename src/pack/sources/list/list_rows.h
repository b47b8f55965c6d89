// Takes CSV files and JSON lines apart into rows, and rows into values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/pack/sources/list/list.h"

namespace recpack::pack {

// A value, or the values of a JSON list, as text.
struct ListCell {
  bool present = false;
  ListType type = ListType::kInt64;  // the narrowest that holds them all
  std::vector<std::string> texts;
};

// Where a row lies in its list.
struct ListRow {
  uint64_t offset = 0;  // bytes
  uint32_t bytes = 0;   // without the line end
  uint32_t line = 0;    // of its first character, from 1
};

// The columns and how a row is read. Immutable once all rows were passed to Learn().
class ListFormat {
 public:
  // `separator`: of a CSV file; 0: JSON lines.
  explicit ListFormat(char separator) : separator_(separator) {}

  // The next row of `text` from `position` on, which moves behind it; blank lines are passed over.
  // Nothing at the end. Throws Error (kCorrupt) for a quote that does not end.
  std::optional<ListRow> NextRow(std::string_view text, uint64_t& position, uint32_t& line) const;

  // Takes a CSV's first row as the names of the columns. Throws Error (kCorrupt).
  void LearnHeader(std::string_view row);

  // Reads a row; columns of JSON objects that are new are added if `learn`, else passed over. Cells
  // are by column. Throws Error (kCorrupt) without a place.
  void Parse(std::string_view row, std::vector<ListCell>& cells, bool learn);
  void Parse(std::string_view row, std::vector<ListCell>& cells) const;

  bool is_json() const { return separator_ == 0; }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<size_t> Find(const std::string& column) const;

 private:
  void ParseCsv(std::string_view row, std::vector<ListCell>& cells) const;

  char separator_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace recpack::pack
