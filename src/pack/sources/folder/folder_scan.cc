#include "src/pack/sources/folder/folder_scan.h"

#include <algorithm>
#include <array>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/base/text.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSplitFolders = {{
    {"train", "train"},
    {"val", "validation"},
    {"validation", "validation"},
    {"test", "test"},
}};

constexpr int kListings = 32;  // of a store, at a time

std::optional<std::string> SplitOfFolder(std::string_view folder) {
  for (const auto& [name, split] : kSplitFolders) {
    if (folder == name) return std::string(split);
  }
  return std::nullopt;
}

bool FoldersAreSplits(const FolderTree& tree, const std::vector<std::string>& folders,
                      FolderOptions::Layout layout) {
  if (layout != FolderOptions::Layout::kAuto) return layout == FolderOptions::Layout::kSplits;
  const auto is_split = [](const std::string& name) { return SplitOfFolder(name).has_value(); };
  const auto splits = static_cast<size_t>(std::ranges::count_if(folders, is_split));
  if (splits == 0) return false;
  if (splits == folders.size()) return true;
  if (!std::ranges::count(folders, "train")) return false;
  const std::string& other = *std::ranges::find_if_not(folders, is_split);
  throw Error(ErrorKind::kInvalidArgument,
              format("holds both train and {}: splits or classes?", other),
              {.path = tree.FullPath("")},
              "move what is not a split away, or use --layout splits or --layout classes");
}

// A unit of work for one thread: a class of a split, or the files directly in a split.
struct Unit {
  size_t split = 0;
  std::string path = {};  // relative to the root
  std::string class_name = {};
  bool labelled = true;
};

struct Chunk {
  std::vector<FolderItem> items;
  std::string names;
  std::vector<FolderPlace> folders;
  uint64_t special_files = 0;
  uint64_t hidden = 0;
};

class UnitScanner {
 public:
  UnitScanner(const FolderTree& tree, int32_t label) : tree_(tree), label_(label) {}

  Chunk Run(const std::string& path, bool recursive) {
    Scan(path, recursive);
    return std::move(chunk_);
  }

 private:
  void Scan(const std::string& path, bool recursive) {
    const FolderListing listing = tree_.List(path);
    Add(path, listing);
    if (!recursive) return;
    if (listing.identity && std::ranges::count(ancestors_, listing.identity)) {
      throw Error(ErrorKind::kInvalidArgument, "is a link to a folder that contains the link",
                  {.path = tree_.FullPath(path)}, "remove the link");
    }
    ancestors_.push_back(listing.identity);
    for (const std::string& folder : listing.folders) Scan(path + "/" + folder, true);
    ancestors_.pop_back();
  }

  void Add(const std::string& path, const FolderListing& listing) {
    const auto folder = static_cast<uint32_t>(chunk_.folders.size());
    chunk_.folders.push_back({.path = path.empty() ? "" : path + "/", .label = label_});
    for (const ListedFile& file : listing.files) {
      chunk_.items.push_back({file.size, chunk_.names.size() + file.name, folder});
    }
    chunk_.names += listing.names;
    chunk_.special_files += listing.special_files;
    chunk_.hidden += listing.hidden;
  }

  const FolderTree& tree_;
  int32_t label_;
  Chunk chunk_;
  std::vector<std::optional<std::pair<dev_t, ino_t>>> ancestors_;
};

class Scanner {
 public:
  Scanner(const FolderTree& tree, const FolderOptions& options) : tree_(tree), options_(options) {}

  FolderTable Run() {
    const FolderListing root = tree_.List("");
    table_.hidden += root.hidden;
    if (FoldersAreSplits(tree_, root.folders, options_.layout)) {
      table_.beside_classes += root.files.size();
      FindSplits(root.folders);
    } else {
      table_.splits = {{.name = "train"}};
      AddUnits(0, "", root);
    }
    NameClasses();
    ScanUnits();
    return std::move(table_);
  }

 private:
  void FindSplits(const std::vector<std::string>& folders) {
    for (const auto& [name, split] : kSplitFolders) {
      if (std::ranges::count(folders, name)) AddSplit(std::string(name), std::string(split));
    }
    for (const std::string& folder : folders) {
      if (!SplitOfFolder(folder)) AddSplit(folder, folder);
    }
  }

  void AddSplit(const std::string& folder, const std::string& split) {
    if (!table_.splits.empty() && table_.splits.back().name == split) {
      throw Error(ErrorKind::kInvalidArgument, "holds both val and validation",
                  {.path = tree_.FullPath("")}, "keep one of them");
    }
    table_.splits.push_back({.name = split});
    const FolderListing listing = tree_.List(folder);
    AddUnits(table_.splits.size() - 1, folder, listing);
  }

  void AddUnits(size_t split, const std::string& path, const FolderListing& listing) {
    if (listing.folders.empty()) {
      units_.push_back({.split = split, .path = path, .labelled = false});
      return;
    }
    table_.beside_classes += listing.files.size();
    for (const std::string& folder : listing.folders) {
      units_.push_back({.split = split,
                        .path = path.empty() ? folder : path + "/" + folder,
                        .class_name = folder});
    }
  }

  void NameClasses() {
    for (const Unit& unit : units_) {
      if (unit.labelled) table_.classes.push_back(unit.class_name);
    }
    SortAndUnite(table_.classes);
  }

  int32_t FindLabel(const Unit& unit) const {
    if (!unit.labelled) return -1;
    return static_cast<int32_t>(std::ranges::lower_bound(table_.classes, unit.class_name) -
                                table_.classes.begin());
  }

  void ScanUnits() {
    std::vector<Chunk> chunks(units_.size());
    ParallelFor(
        units_.size(), tree_.is_remote() ? kListings : options_.threads, [&](size_t, size_t i) {
          chunks[i] =
              UnitScanner(tree_, FindLabel(units_[i])).Run(units_[i].path, units_[i].labelled);
        });
    size_t items = 0, name_bytes = 0;
    for (const Chunk& chunk : chunks) {
      items += chunk.items.size();
      name_bytes += chunk.names.size();
    }
    if (items == 0) {
      throw Error(ErrorKind::kInvalidArgument, "holds no files", {.path = tree_.FullPath("")},
                  "hidden files are ignored; name a folder of files, or of class folders");
    }
    CheckClasses(chunks);
    table_.items.reserve(items);
    table_.names.reserve(name_bytes);
    table_.first_items.assign(table_.splits.size(), 0);
    for (size_t i = 0; i < chunks.size(); ++i) Append(units_[i].split, std::move(chunks[i]));
  }

  void CheckClasses(const std::vector<Chunk>& chunks) const {
    std::vector<bool> has_files(table_.classes.size(), false);
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (units_[i].labelled && !chunks[i].items.empty()) has_files[FindLabel(units_[i])] = true;
    }
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (!units_[i].labelled || has_files[FindLabel(units_[i])]) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  format("the class folder {} holds no files", units_[i].class_name),
                  {.path = tree_.FullPath(units_[i].path)}, "remove it, or put its files there");
    }
  }

  // Call split by split.
  void Append(size_t split, Chunk chunk) {
    SourceSplit& info = table_.splits[split];
    if (info.items == 0) table_.first_items[split] = table_.items.size();
    info.items += chunk.items.size();
    const auto first_folder = static_cast<uint32_t>(table_.folders.size());
    for (FolderItem item : chunk.items) {
      item.name += table_.names.size();
      item.folder += first_folder;
      table_.items.push_back(item);
    }
    table_.names += chunk.names;
    std::ranges::move(chunk.folders, std::back_inserter(table_.folders));
    table_.special_files += chunk.special_files;
    table_.hidden += chunk.hidden;
  }

  const FolderTree& tree_;
  const FolderOptions& options_;
  FolderTable table_;
  std::vector<Unit> units_;
};

}  // namespace

FolderTable ScanFolder(const FolderTree& tree, const FolderOptions& options) {
  return Scanner(tree, options).Run();
}

}  // namespace recpack::pack
