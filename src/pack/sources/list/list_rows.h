// Parses the rows of CSV files and JSON lines.
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
  ListType type = ListType::kInt64;  // the narrowest that represents all values
  std::vector<std::string> texts;
};

// Location of a row in its list.
struct ListRow {
  uint64_t offset = 0;  // bytes
  uint32_t bytes = 0;   // without the line end
  uint32_t line = 0;    // line of its first character, from 1
};

// The columns of a list, and the parser of its rows. Immutable once all rows were learned.
class ListFormat {
 public:
  // `separator` of a CSV file; 0: JSON lines.
  explicit ListFormat(char separator) : separator_(separator) {}

  // Finds the next row of `text` at `position` and advances `position` past it; skips blank lines.
  // Returns nullopt at the end. Throws Error (kCorrupt) for an unterminated quote.
  std::optional<ListRow> NextRow(std::string_view text, uint64_t& position, uint32_t& line) const;

  // Takes the first row of a CSV as column names. Throws Error (kCorrupt).
  void LearnHeader(std::string_view row);

  // Parses a row into cells, one per column. With `learn`, new keys of JSON objects become columns;
  // else they are ignored. Throws Error (kCorrupt) without a place.
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
