#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/pack/item/field_values.h"
#include "src/pack/item/file_fields.h"
#include "src/pack/item/item_file.h"
#include "src/pack/sources/list/list.h"
#include "src/pack/sources/list/list_table.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kRecordOverhead = 180;  // approximate, without the bytes of file and row

class ListSource final : public Source {
 public:
  explicit ListSource(const ListOptions& options) : table_(options), image_options_(options.image) {
    ImageFields check(image_options_, counters_);
  }

  std::string kind() const override { return "list"; }
  const std::vector<SourceSplit>& splits() const override { return table_.splits; }
  const std::vector<std::string>& class_names() const override { return table_.classes; }
  bool sorted_by_class() const override { return table_.sorted_by_class; }
  bool items_take_work() const override { return true; }

  std::string ItemName(size_t split, uint64_t item) const override {
    std::string row;
    ListCells cells;
    ReadRow(Item(split, item).row, row, cells);
    return cells.Find(table_.path_column)->texts[0];
  }

  uint64_t ItemBytes(size_t split, uint64_t item) const override {
    return Item(split, item).file_size + Item(split, item).row.bytes + kRecordOverhead;
  }

  std::string Fingerprint() const override;
  std::unique_ptr<ItemReader> NewReader() const override;

  std::vector<std::string> Notices() const override {
    std::vector<std::string> notices;
    counters_.AddNotices(notices);
    return notices;
  }

  const ListItem& Item(size_t split, uint64_t item) const { return table_.items[split][item]; }

  // Reads a row again; it has a path. Throws Error (kCorrupt) if the list has changed and the row
  // is invalid.
  void ReadRow(const ListRow& row, std::string& text, ListCells& cells) const {
    text.resize(row.bytes);
    const std::span<uint8_t> room(reinterpret_cast<uint8_t*>(text.data()), text.size());
    if (table_.list->ReadAt(row.offset, room) != room.size()) {
      throw Error(ErrorKind::kCorrupt, "changed after it was opened", {.path = table_.list_path});
    }
    table_.format.Parse(text, cells);
    const ListCell* path = cells.Find(table_.path_column);
    if (path == nullptr || path->texts.size() != 1) {
      throw Error(ErrorKind::kCorrupt, "changed after it was opened", {.path = table_.list_path});
    }
  }

  const ListTable& table() const { return table_; }
  const ImageOptions& image_options() const { return image_options_; }
  ImageCounters& counters() const { return counters_; }

 private:
  ListTable table_;
  ImageOptions image_options_;
  mutable ImageCounters counters_;
};

class ListReader final : public ItemReader {
 public:
  explicit ListReader(const ListSource& source)
      : source_(source), images_(source.image_options(), source.counters()) {}

  void Read(size_t split, uint64_t item, Sample& sample) override {
    const ListItem& entry = source_.Item(split, item);
    try {
      source_.ReadRow(entry.row, row_, cells_);
      AddLabel(ReadFile(entry, sample), sample);
      AddFeatures(sample);
    } catch (const Error& error) {
      const std::string& path = error.place().path;
      const std::string reason =
          path.empty() ? error.reason() : format("{}: {}", path, error.reason());
      throw AtLine(Error(error.kind(), reason, {}, error.advice(), error.error_number()),
                   source_.table().list_path, entry.row.line);
    }
  }

 private:
  const FileNames& ReadFile(const ListItem& entry, Sample& sample) {
    const FolderTree& folder = source_.table().folder;
    const std::string& path = cells_.Find(source_.table().path_column)->texts[0];
    const ByteView bytes = ReadItemFile(folder.descriptor(), path, entry.file_size, path, buffer_);
    const FileNames& names = AddFile(bytes, path, images_, sample.features);
    sample.features.AddBytes(names.filename, AsBytes(path));
    return names;
  }

  void AddLabel(const FileNames& names, Sample& sample) {
    const ListTable& table = source_.table();
    if (!table.label_column) return;
    const ListCell* cell = cells_.Find(*table.label_column);
    if (cell == nullptr) return;
    numbers_.clear();
    for (const std::string& text : cell->texts) numbers_.push_back(FindLabel(text));
    sample.features.AddInt64List(names.label, numbers_);
    if (numbers_.size() == 1) sample.label = numbers_[0];
    if (!table.classes.empty()) AddTexts(names.text, *cell, sample);
  }

  int64_t FindLabel(const std::string& text) const {
    const auto& classes = source_.table().classes;
    if (classes.empty()) return Whole(text);
    const auto found = std::ranges::lower_bound(classes, text);
    if (found == classes.end() || *found != text) FailChanged();
    return found - classes.begin();
  }

  // Adds the features of the row's cells in the order of the table's features.
  void AddFeatures(Sample& sample) {
    const ListTable& table = source_.table();
    features_.clear();
    for (const ListCell& cell : cells_.all()) {
      for (const size_t feature : table.features_of[cell.column]) {
        features_.emplace_back(feature, &cell);
      }
    }
    std::ranges::sort(features_);
    for (const auto& [feature, cell] : features_)
      AddFeature(table.features[feature], *cell, sample);
  }

  void AddFeature(const ListFeature& feature, const ListCell& cell, Sample& sample) {
    switch (source_.table().types[feature.column]) {
      case ListType::kBytes:
        return AddTexts(feature.name, cell, sample);
      case ListType::kInt64:
        numbers_.clear();
        for (const std::string& text : cell.texts) numbers_.push_back(Whole(text));
        return sample.features.AddInt64List(feature.name, numbers_);
      case ListType::kFloat:
        floats_.clear();
        for (const std::string& text : cell.texts) {
          floats_.push_back(ParseFloat(text).value_or(0));
        }
        return sample.features.AddFloatList(feature.name, floats_);
    }
  }

  // The builder stores views of the texts, which are owned by cells_.
  void AddTexts(std::string_view name, const ListCell& cell, Sample& sample) {
    views_.clear();
    for (const std::string& text : cell.texts) views_.push_back(AsBytes(text));
    sample.features.AddBytesList(name, views_);
  }

  static int64_t Whole(const std::string& text) {
    const auto number = ParseInt64(text);
    if (!number) FailChanged();
    return *number;
  }

  [[noreturn]] static void FailChanged() {
    throw Error(ErrorKind::kCorrupt, "the list changed after it was opened");
  }

  const ListSource& source_;
  ImageFields images_;
  ReadBuffer buffer_;
  std::string row_;
  ListCells cells_;
  std::vector<std::pair<size_t, const ListCell*>> features_;  // of the row: number and cell
  std::vector<int64_t> numbers_;
  std::vector<float> floats_;
  std::vector<ByteView> views_;
};

std::unique_ptr<ItemReader> ListSource::NewReader() const {
  return std::make_unique<ListReader>(*this);
}

std::string ListSource::Fingerprint() const {
  Sha256 hash;
  hash.Update(ReadWholeFile(PosixFiles(), table_.list_path));
  for (const auto& items : table_.items) {
    for (const ListItem& item : items) {
      hash.Update({reinterpret_cast<const uint8_t*>(&item.file_size), sizeof item.file_size});
    }
  }
  return Hex(hash.Finish());
}

}  // namespace

std::unique_ptr<Source> OpenList(const ListOptions& options) {
  return std::make_unique<ListSource>(options);
}

bool LooksLikeList(const std::string& path) {
  constexpr std::string_view kEndings[] = {".csv", ".tsv", ".jsonl", ".ndjson"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return path.ends_with(ending); });
}

}  // namespace recpack::pack
