#include "src/pack/sources/list/list_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/item/field_values.h"
#include "src/shards/json/json_digits.h"

namespace recpack::pack {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

[[noreturn]] void FailCorrupt(const std::string& why) { throw Error(ErrorKind::kCorrupt, why); }

// Returns the end of the line or CSV row; a line end within quotes does not end a row.
size_t EndOfRow(std::string_view text, size_t begin, bool quotes, uint32_t& lines) {
  bool quoted = false;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '"' && quotes) quoted = !quoted;
    if (text[i] != '\n') continue;
    ++lines;
    if (!quoted) return i;
  }
  if (quoted) FailCorrupt("a quote is not closed");
  return text.size();
}

// Iterates over the cells of a CSV row (RFC 4180).
class CsvCells {
 public:
  CsvCells(std::string_view row, char separator) : row_(row), separator_(separator) {}

  bool Next(std::string& cell) {
    if (done_) return false;
    cell.clear();
    row_.starts_with('"') ? Quoted(cell) : Plain(cell);
    if (row_.empty()) {
      done_ = true;
    } else {
      row_.remove_prefix(1);
    }
    return true;
  }

 private:
  void Plain(std::string& cell) {
    const size_t end = std::min(row_.find(separator_), row_.size());
    cell = row_.substr(0, end);
    if (cell.find('"') != std::string::npos) FailCorrupt("a quote in a cell that is not quoted");
    row_.remove_prefix(end);
  }

  void Quoted(std::string& cell) {
    for (;;) {
      const size_t end = row_.find('"', 1);
      if (end == std::string_view::npos) FailCorrupt("a quote is not closed");
      cell += row_.substr(1, end - 1);
      row_.remove_prefix(end + 1);
      if (!row_.starts_with('"')) break;
      cell += '"';
    }
    if (!row_.empty() && row_[0] != separator_) FailCorrupt("text after a quoted cell");
  }

  std::string_view row_;
  char separator_;
  bool done_ = false;
};

ListType NarrowestType(const std::string& text) {
  if (ParseInt64(text)) return ListType::kInt64;
  return ParseFloat(text) ? ListType::kFloat : ListType::kBytes;
}

void AddJsonValue(const Json& value, ListCell& cell) {
  ListType type = ListType::kBytes;
  if (value.is_string()) {
    cell.texts.push_back(value.get<std::string>());
  } else if (value.is_boolean()) {
    type = ListType::kInt64;
    cell.texts.push_back(value.get<bool>() ? "1" : "0");
  } else {
    cell.texts.push_back(DumpDigits(value));
    if (IsNumberOfDigits(value)) type = NarrowestType(cell.texts.back());
  }
  cell.type = std::max(cell.type, type);
}

void ReadJsonCell(const Json& value, ListCell& cell) {
  const bool is_list = value.is_array() && std::ranges::none_of(value, [](const Json& one) {
                         return one.is_structured() || one.is_null();
                       });
  if (!is_list) return AddJsonValue(value, cell);
  for (const Json& one : value) AddJsonValue(one, cell);
}

Json ParseObject(std::string_view row) {
  Json object = ParseJsonDigits(row);
  if (object.is_discarded())
    FailCorrupt(format("is not JSON, or is nested deeper than {} levels", kMostJsonLevels));
  if (!object.is_object()) FailCorrupt("is not a JSON object");
  return object;
}

}  // namespace

ListCell& ListCells::Add(size_t column) {
  if (count_ == cells_.size()) cells_.emplace_back();
  ListCell& cell = cells_[count_++];
  cell.column = column;
  cell.type = ListType::kInt64;
  cell.texts.clear();
  return cell;
}

void ListCells::Sort() {
  std::ranges::sort(std::span(cells_.data(), count_), {}, &ListCell::column);
}

const ListCell* ListCells::Find(size_t column) const {
  const auto cells = all();
  const auto found = std::ranges::lower_bound(cells, column, {}, &ListCell::column);
  return found == cells.end() || found->column != column ? nullptr : &*found;
}

std::optional<ListRow> ListFormat::NextRow(std::string_view text, uint64_t& position,
                                           uint32_t& line) const {
  if (position == 0 && text.starts_with(kByteOrderMark)) position = kByteOrderMark.size();
  while (position < text.size()) {
    const uint32_t first_line = line;
    const size_t begin = position;
    size_t end = EndOfRow(text, begin, !is_json(), line);
    position = end + 1;
    if (end > begin && text[end - 1] == '\r') --end;
    const std::string_view row = text.substr(begin, end - begin);
    if (TrimSpace(row).empty() && (is_json() || row.find(separator_) == row.npos)) continue;
    if (row.size() > UINT32_MAX) FailCorrupt("is longer than 4 GiB");
    return ListRow{begin, static_cast<uint32_t>(row.size()), first_line};
  }
  return {};
}

void ListFormat::LearnHeader(std::string_view row) {
  CsvCells cells(row, separator_);
  std::string name;
  while (cells.Next(name)) {
    if (name.empty()) FailCorrupt("a column has no name");
    if (!numbers_.emplace(name, columns_.size()).second) {
      FailCorrupt(format("two columns are called {}", name));
    }
    columns_.push_back(name);
  }
}

void ListFormat::Parse(std::string_view row, ListCells& cells, bool learn) {
  if (learn && is_json()) {
    const Json object = ParseObject(row);
    for (const auto& [name, value] : object.items()) {
      if (numbers_.emplace(name, columns_.size()).second) columns_.push_back(name);
    }
  }
  std::as_const(*this).Parse(row, cells);
}

void ListFormat::Parse(std::string_view row, ListCells& cells) const {
  cells.Clear();
  if (!is_json()) return ParseCsv(row, cells);
  const Json object = ParseObject(row);
  for (const auto& [name, value] : object.items()) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end() && !value.is_null()) ReadJsonCell(value, cells.Add(found->second));
  }
  cells.Sort();
}

void ListFormat::ParseCsv(std::string_view row, ListCells& cells) const {
  CsvCells texts(row, separator_);
  std::string text;
  size_t count = 0;
  for (; texts.Next(text); ++count) {
    if (count >= columns_.size() || text.empty()) continue;
    ListCell& cell = cells.Add(count);
    cell.type = NarrowestType(text);
    cell.texts.push_back(std::move(text));
  }
  if (count != columns_.size()) {
    FailCorrupt(format("has {} cells, but the header has {}", count, columns_.size()));
  }
}

std::optional<size_t> ListFormat::Find(const std::string& column) const {
  const auto found = numbers_.find(column);
  if (found == numbers_.end()) return {};
  return found->second;
}

}  // namespace recpack::pack
