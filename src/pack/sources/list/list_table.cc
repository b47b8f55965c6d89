#include "src/pack/sources/list/list_table.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/field_values.h"

namespace recpack::pack {
namespace {

constexpr size_t kRowsATask = 4096;
constexpr std::array<const char*, 3> kTypeNames = {"int64", "float", "bytes"};

std::string ParentFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

char FindSeparator(const std::string& path) {
  if (path.ends_with(".jsonl") || path.ends_with(".ndjson")) return 0;
  return path.ends_with(".tsv") ? '\t' : ',';
}

bool IsSplitName(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, allowed);
}

// Sort key: train, validation and test first, then by name.
std::pair<int, std::string> SplitOrder(const std::string& name) {
  constexpr std::string_view kFirst[] = {"train", "val", "validation", "test"};
  const auto found = std::ranges::find(kFirst, name);
  return {static_cast<int>(found - std::begin(kFirst)), name};
}

// Reads the list once to fill the table.
class ListScan {
 public:
  ListScan(ListTable& table, const ListOptions& options) : table_(table), options_(options) {}

  void Run() {
    const ByteBuffer bytes = ReadWholeFile(PosixFiles(), options_.path);
    const std::string_view text = AsText(bytes);
    ReadRows(text);
    if (rows_.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "lists no files", {.path = options_.path},
                  "write a header, then one row per file (docs/reference/sources.md)");
    }
    ApplyTypes();
    ChooseColumns();
    CheckLabelType();
    Distribute(text);
    ParallelFor((rows_.size() + kRowsATask - 1) / kRowsATask, options_.threads,
                [&](size_t, size_t task) { LookUpFiles(text, task * kRowsATask); });
    for (size_t i = 0; i < rows_.size(); ++i) table_.items[split_of_[i]].push_back(rows_[i]);
    for (size_t i = 0; i < table_.splits.size(); ++i) {
      table_.splits[i].items = table_.items[i].size();
    }
  }

 private:
  struct Seen {
    bool any = false;
    ListType type = ListType::kInt64;
    uint32_t line = 0;       // first line with a value of that type
    bool fractions = false;  // some numbers are not whole
    std::string too_large;   // first whole number that exceeds int64
    uint32_t too_large_line = 0;
    std::string beyond_float;  // first number that is 0 or infinite as a float
    uint32_t beyond_float_line = 0;
  };

  template <typename Work>
  void AtRow(uint32_t line, const Work& work) const {
    try {
      work();
    } catch (const Error& error) {
      throw AtLine(error, options_.path, line);
    }
  }

  void ReadRows(std::string_view text) {
    uint64_t position = 0;
    uint32_t line = 1;
    bool header = !table_.format.is_json();
    std::vector<ListCell> cells;
    for (;;) {
      const uint32_t first = line;
      std::optional<ListRow> row;
      AtRow(first, [&] { row = table_.format.NextRow(text, position, line); });
      if (!row) return;
      const std::string_view content = text.substr(row->offset, row->bytes);
      AtRow(row->line, [&] {
        if (header) return table_.format.LearnHeader(content);
        table_.format.Parse(content, cells, true);
        WidenTypes(cells, row->line);
      });
      if (!header) rows_.push_back({.row = *row});
      header = false;
    }
  }

  void WidenTypes(const std::vector<ListCell>& cells, uint32_t line) {
    seen_.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].present || cells[i].texts.empty()) continue;
      const bool is_text = cells[i].type == ListType::kBytes;
      const bool was_text = seen_[i].type == ListType::kBytes;
      if (table_.format.is_json() && seen_[i].any && is_text != was_text) {
        throw Error(ErrorKind::kInvalidArgument,
                    format("{} is {} here and {} above", table_.format.columns()[i],
                           is_text ? "text" : "a number", was_text ? "text" : "a number"));
      }
      if (!seen_[i].any || cells[i].type > seen_[i].type) {
        seen_[i].any = true;
        seen_[i].type = cells[i].type;
        seen_[i].line = line;
      }
      if (cells[i].type == ListType::kFloat) LookForFractions(cells[i].texts, line, seen_[i]);
    }
  }

  static void LookForFractions(const std::vector<std::string>& numbers, uint32_t line, Seen& seen) {
    for (const std::string& number : numbers) {
      const bool whole = IsWholeNumber(number);
      seen.fractions |= !whole;
      if (whole && seen.too_large.empty() && !ParseInt64(number)) {
        seen.too_large = number;
        seen.too_large_line = line;
      }
      if (seen.beyond_float.empty() && IsBeyondFloat(number)) {
        seen.beyond_float = number;
        seen.beyond_float_line = line;
      }
    }
  }

  // Rounding fractions to float is expected. Other losses are errors: whole numbers beyond 64 bits,
  // which are more often ids than quantities, and numbers that become 0 or infinite.
  void CheckNumbers(size_t column) const {
    const Seen& seen = seen_[column];
    const std::string& name = table_.format.columns()[column];
    const bool told =
        std::ranges::any_of(options_.types, [&](const auto& type) { return type.first == name; });
    if (told || table_.types[column] != ListType::kFloat) return;
    if (!seen.beyond_float.empty()) {
      throw AtLine(Error(ErrorKind::kInvalidArgument,
                         format("column {} has the number {}, which is 0 or infinite as a float of "
                                "32 bits",
                                name, seen.beyond_float),
                         {}, "give the column a type: bytes keeps it as it is, float rounds it"),
                   options_.path, seen.beyond_float_line);
    }
    if (seen.too_large.empty()) return;
    throw AtLine(
        Error(ErrorKind::kInvalidArgument,
              format("column {} has the whole number {}, which is beyond 64 bits", name,
                     seen.too_large),
              {}, "give the column a type: bytes keeps them as they are, float rounds them"),
        options_.path, seen.too_large_line);
  }

  void ApplyTypes() {
    seen_.resize(table_.format.columns().size());
    for (const Seen& seen : seen_) {
      table_.types.push_back(seen.any ? seen.type : ListType::kBytes);
    }
    for (const auto& [column, type] : options_.types) {
      ListType& known = table_.types[Column(column)];
      if (known > type) {
        throw AtLine(Error(ErrorKind::kInvalidArgument,
                           format("column {} has values that are not {}", column,
                                  kTypeNames[static_cast<size_t>(type)]),
                           {}, "correct them, or give the column a wider type"),
                     options_.path, seen_[Column(column)].line);
      }
      known = type;
    }
  }

  size_t Column(const std::string& name) const {
    const auto found = FindAny(name);
    if (found) return *found;
    std::string columns;
    for (const std::string& column : table_.format.columns()) columns += " " + column;
    throw Error(ErrorKind::kInvalidArgument, format("has no column {}", name),
                {.path = options_.path}, format("its columns are:{}", columns));
  }

  // Finds the first of several names, separated by ';'.
  std::optional<size_t> FindAny(const std::string& names) const {
    for (const std::string& name : SplitText(names, ';')) {
      if (const auto found = table_.format.Find(name)) return found;
    }
    return {};
  }

  std::optional<size_t> Mapped(const char* target, const char* usual) const {
    const auto rule = std::ranges::find(options_.fields, target, &FieldRule::target);
    if (rule != options_.fields.end()) return Column(rule->from);
    return table_.format.Find(usual);
  }

  void ChooseColumns() {
    const auto path = Mapped("image", "path");
    if (!path && table_.format.is_json()) Column("path");
    table_.path_column = path.value_or(0);
    table_.split_column = Mapped("split", "split");
    const bool label_wanted =
        options_.fields.empty() || std::ranges::count(options_.fields, "label", &FieldRule::target);
    if (label_wanted) table_.label_column = Mapped("label", "label");
    options_.fields.empty() ? UseOtherColumns() : UseMappedColumns();
    for (const ListFeature& feature : table_.features) {
      CheckName(feature.name);
      CheckNumbers(feature.column);
    }
    if (table_.label_column) CheckNumbers(*table_.label_column);
  }

  void UseOtherColumns() {
    for (size_t i = 0; i < table_.format.columns().size(); ++i) {
      if (i == table_.path_column || i == table_.label_column || i == table_.split_column) continue;
      table_.features.push_back({.name = table_.format.columns()[i], .column = i});
    }
  }

  void UseMappedColumns() {
    for (const FieldRule& rule : options_.fields) {
      if (rule.target == "image" || rule.target == "label" || rule.target == "split") continue;
      table_.features.push_back({.name = rule.target, .column = Column(rule.from)});
    }
  }

  void CheckName(const std::string& name) const {
    for (const std::string_view used : {kImageEncoded, kImageFormat, kImageHeight, kImageWidth,
                                        kImageClassLabel, kImageClassText, kImageFilename}) {
      if (name != used) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  format("a column cannot be called {}: that feature is made from the file", name),
                  {.path = options_.path}, "map it to another name");
    }
  }

  void CheckLabelType() const {
    if (!table_.label_column || table_.types[*table_.label_column] != ListType::kFloat) return;
    throw Error(ErrorKind::kInvalidArgument, "labels are neither whole numbers nor text",
                {.path = options_.path});
  }

  // Finds the splits and the classes, and the split of each row.
  void Distribute(std::string_view text) {
    const bool named_labels =
        table_.label_column && table_.types[*table_.label_column] == ListType::kBytes;
    std::map<std::pair<int, std::string>, uint32_t> splits;
    std::set<std::string> labels;
    std::string last_label;
    uint64_t changes = 0;
    std::vector<ListCell> cells;
    for (const ListItem& item : rows_) {
      AtRow(item.row.line, [&] {
        table_.format.Parse(text.substr(item.row.offset, item.row.bytes), cells);
        const std::string split = ParseSplit(cells);
        const auto number = static_cast<uint32_t>(splits.size());
        split_of_.push_back(splits.try_emplace(SplitOrder(split), number).first->second);
      });
      if (!table_.label_column) continue;
      for (const std::string& label : cells[*table_.label_column].texts) {
        labels.insert(label);
        changes += label != last_label;
        last_label = label;
      }
    }
    table_.sorted_by_class = labels.size() > 1 && changes == labels.size();
    if (named_labels) table_.classes.assign(labels.begin(), labels.end());
    NumberSplits(splits);
  }

  void NumberSplits(const std::map<std::pair<int, std::string>, uint32_t>& splits) {
    std::vector<uint32_t> place(splits.size());
    for (const auto& [order, number] : splits) {
      place[number] = static_cast<uint32_t>(table_.splits.size());
      table_.splits.push_back({.name = order.second});
    }
    for (uint32_t& split : split_of_) split = place[split];
    table_.items.resize(splits.size());
  }

  std::string ParseSplit(const std::vector<ListCell>& cells) const {
    if (!table_.split_column) return "train";
    const ListCell& cell = cells[*table_.split_column];
    if (cell.texts.size() == 1 && IsSplitName(cell.texts[0])) return cell.texts[0];
    throw Error(ErrorKind::kCorrupt,
                format("invalid name of a split: '{}'", cell.texts.empty() ? "" : cell.texts[0]),
                {}, "use letters, digits and _");
  }

  void LookUpFiles(std::string_view text, size_t begin) {
    std::vector<ListCell> cells;
    const size_t end = std::min(begin + kRowsATask, rows_.size());
    for (size_t i = begin; i < end; ++i) {
      const ListRow& row = rows_[i].row;
      AtRow(row.line, [&] {
        table_.format.Parse(text.substr(row.offset, row.bytes), cells);
        const ListCell& path = cells[table_.path_column];
        if (path.texts.size() != 1) throw Error(ErrorKind::kCorrupt, "has no file name");
        struct stat status;
        if (::fstatat(table_.folder.descriptor(), path.texts[0].c_str(), &status, 0) == 0) {
          rows_[i].file_size = static_cast<uint64_t>(status.st_size);
        }
      });
    }
  }

  ListTable& table_;
  const ListOptions& options_;
  std::vector<ListItem> rows_;
  std::vector<uint32_t> split_of_;  // by row
  std::vector<Seen> seen_;          // value types, by column
};

}  // namespace

ListTable::ListTable(const ListOptions& options)
    : list_path(options.path),
      list(PosixFiles().OpenForReading(options.path)),
      folder(ParentFolder(options.path)),
      format(FindSeparator(options.path)) {
  ListScan(*this, options).Run();
}

std::vector<std::pair<std::string, ListType>> ParseListTypes(std::string_view text) {
  std::vector<std::pair<std::string, ListType>> types;
  if (text.empty()) return types;
  for (const std::string& part : SplitText(text, ',')) {
    const size_t equals = std::min(part.rfind('='), part.size());
    const std::string column = part.substr(0, equals);
    const auto* const name =
        std::ranges::find(kTypeNames, part.substr(std::min(equals + 1, part.size())));
    const bool again =
        std::ranges::any_of(types, [&](const auto& type) { return type.first == column; });
    if (column.empty() || name == kTypeNames.end() || again) {
      throw Error(ErrorKind::kInvalidArgument,
                  recpack::format("cannot read the columns '{}': '{}' is {}", text, part,
                                  again ? "given twice" : "not COLUMN=TYPE"),
                  {}, "write them as zip=bytes,score=float; types are int64, float and bytes");
    }
    types.emplace_back(column, static_cast<ListType>(name - kTypeNames.begin()));
  }
  return types;
}

Error AtLine(const Error& error, const std::string& list_path, uint32_t line) {
  return error.At({.path = recpack::format("{}:{}", list_path, line)});
}

}  // namespace recpack::pack
