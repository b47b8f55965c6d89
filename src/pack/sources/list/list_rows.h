// Parses the rows of CSV files and JSON lines.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/pack/sources/list/list.h"

namespace recpack::pack {

// A value, or the values of a JSON list, as text.
struct ListCell {
  size_t column = 0;
  ListType type = ListType::kInt64;  // the narrowest that represents all values
  std::vector<std::string> texts;
};

// The cells that a row has, so that a row of few costs the same however many columns its list has.
// Reuse it: it keeps its memory.
class ListCells {
 public:
  void Clear() noexcept { count_ = 0; }

  // Returns a cell without texts, valid until the next call.
  ListCell& Add(size_t column);

  // Puts the cells into the order of their columns, which Find() needs.
  void Sort();

  // Returns null if the row has no such cell.
  const ListCell* Find(size_t column) const;

  std::span<const ListCell> all() const noexcept { return {cells_.data(), count_}; }

 private:
  std::vector<ListCell> cells_;  // the first count_ are in use
  size_t count_ = 0;
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

  // Parses a row into cells, by column; empty cells and nulls are none. With `learn`, new keys of
  // JSON objects become columns; else they are ignored. Throws Error (kCorrupt) without a place.
  void Parse(std::string_view row, ListCells& cells, bool learn);
  void Parse(std::string_view row, ListCells& cells) const;

  bool is_json() const { return separator_ == 0; }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<size_t> Find(const std::string& column) const;

 private:
  void ParseCsv(std::string_view row, ListCells& cells) const;

  char separator_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace recpack::pack
