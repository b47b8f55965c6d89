#include "src/pack/sources/list/list_table.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/pack/sources/list/list_columns.h"

namespace recpack::pack {
namespace {

constexpr size_t kRowsATask = 4096;

std::string ParentFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

char FindSeparator(const std::string& path) {
  if (path.ends_with(".jsonl") || path.ends_with(".ndjson")) return 0;
  return path.ends_with(".tsv") ? '\t' : ',';
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
  ListScan(ListTable& table, const ListOptions& options)
      : table_(table), options_(options), columns_(table, options) {}

  void Run() {
    const ByteBuffer bytes = ReadWholeFile(PosixFiles(), options_.path);
    const std::string_view text = AsText(bytes);
    ReadRows(text);
    if (rows_.empty()) {
      throw Error(ErrorKind::kInvalidArgument, "lists no files", {.path = options_.path},
                  "write a header, then one row per file (docs/reference/sources.md)");
    }
    columns_.Choose();
    Distribute(text);
    ParallelFor((rows_.size() + kRowsATask - 1) / kRowsATask, options_.threads,
                [&](size_t, size_t task) { LookUpFiles(text, task * kRowsATask); });
    for (size_t i = 0; i < rows_.size(); ++i) table_.items[split_of_[i]].push_back(rows_[i]);
    for (size_t i = 0; i < table_.splits.size(); ++i) {
      table_.splits[i].items = table_.items[i].size();
    }
  }

 private:
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
    ListCells cells;
    for (;;) {
      const uint32_t first = line;
      std::optional<ListRow> row;
      AtRow(first, [&] { row = table_.format.NextRow(text, position, line); });
      if (!row) return;
      const std::string_view content = text.substr(row->offset, row->bytes);
      AtRow(row->line, [&] {
        if (header) return table_.format.LearnHeader(content);
        table_.format.Parse(content, cells, true);
        columns_.Widen(cells, row->line);
      });
      if (!header) rows_.push_back({.row = *row});
      header = false;
    }
  }

  // Finds the splits and the classes, and the split of each row.
  void Distribute(std::string_view text) {
    const bool named_labels =
        table_.label_column && table_.types[*table_.label_column] == ListType::kBytes;
    std::map<std::pair<int, std::string>, uint32_t> splits;
    std::set<std::string> labels;
    std::string last_label;
    uint64_t changes = 0;
    ListCells cells;
    for (const ListItem& item : rows_) {
      AtRow(item.row.line, [&] {
        table_.format.Parse(text.substr(item.row.offset, item.row.bytes), cells);
        const std::string split = ParseSplit(cells);
        const auto number = static_cast<uint32_t>(splits.size());
        split_of_.push_back(splits.try_emplace(SplitOrder(split), number).first->second);
      });
      const ListCell* cell = table_.label_column ? cells.Find(*table_.label_column) : nullptr;
      if (cell == nullptr) continue;
      for (const std::string& label : cell->texts) {
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

  std::string ParseSplit(const ListCells& cells) const {
    if (!table_.split_column) return "train";
    const ListCell* cell = cells.Find(*table_.split_column);
    const bool any = cell != nullptr && !cell->texts.empty();
    if (any && cell->texts.size() == 1 && IsSplitName(cell->texts[0])) return cell->texts[0];
    throw Error(ErrorKind::kCorrupt,
                format("invalid name of a split: '{}'", any ? cell->texts[0] : ""), {},
                "use letters, digits and _");
  }

  void LookUpFiles(std::string_view text, size_t begin) {
    ListCells cells;
    const size_t end = std::min(begin + kRowsATask, rows_.size());
    for (size_t i = begin; i < end; ++i) {
      const ListRow& row = rows_[i].row;
      AtRow(row.line, [&] {
        table_.format.Parse(text.substr(row.offset, row.bytes), cells);
        const ListCell* path = cells.Find(table_.path_column);
        if (path == nullptr || path->texts.size() != 1)
          throw Error(ErrorKind::kCorrupt, "has no file name");
        struct stat status;
        if (::fstatat(table_.folder.descriptor(), path->texts[0].c_str(), &status, 0) == 0) {
          rows_[i].file_size = static_cast<uint64_t>(status.st_size);
        }
      });
    }
  }

  ListTable& table_;
  const ListOptions& options_;
  ListColumns columns_;
  std::vector<ListItem> rows_;
  std::vector<uint32_t> split_of_;  // by row
};

}  // namespace

ListTable::ListTable(const ListOptions& options)
    : list_path(options.path),
      list(PosixFiles().OpenForReading(options.path)),
      folder(ParentFolder(options.path)),
      format(FindSeparator(options.path)) {
  ListScan(*this, options).Run();
}

Error AtLine(const Error& error, const std::string& list_path, uint32_t line) {
  return error.At({.path = recpack::format("{}:{}", list_path, line)});
}

}  // namespace recpack::pack
