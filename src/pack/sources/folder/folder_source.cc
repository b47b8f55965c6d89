#include <sys/stat.h>

#include <map>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/pack/item/file_fields.h"
#include "src/pack/item/item_file.h"
#include "src/pack/sources/folder/folder.h"
#include "src/pack/sources/folder/folder_scan.h"
#include "src/remote/store/whole_object.h"

namespace recpack::pack {
namespace {

// Approximate size of names, keys and framing around the file's bytes.
constexpr uint64_t kRecordOverhead = 180;

class FolderSource final : public Source {
 public:
  explicit FolderSource(const FolderOptions& options)
      : tree_(options.path), table_(ScanFolder(tree_, options)), image_options_(options.image) {
    ImageFields check(image_options_, counters_);
  }

  std::string kind() const override { return "folder"; }
  const std::vector<SourceSplit>& splits() const override { return table_.splits; }
  const std::vector<std::string>& class_names() const override { return table_.classes; }
  bool sorted_by_class() const override { return !table_.classes.empty(); }
  bool items_take_work() const override { return true; }
  bool items_are_remote() const override { return tree_.is_remote(); }

  std::string ItemName(size_t split, uint64_t item) const override {
    std::string name;
    GetPath(Item(split, item), name);
    return name;
  }

  uint64_t ItemBytes(size_t split, uint64_t item) const override {
    return Item(split, item).size + kRecordOverhead;
  }

  // Groups are the classes.
  std::vector<ItemGroup> Groups(size_t split) const override {
    std::vector<ItemGroup> groups;
    int32_t label = -2;  // of the last group; no folder has this label
    for (uint64_t i = 0; i < table_.splits[split].items; ++i) {
      const int32_t own = table_.folders[Item(split, i).folder].label;
      if (own != label) {
        groups.push_back({.name = own < 0 ? "" : table_.classes[own], .begin = i, .end = i});
      }
      groups.back().end = i + 1;
      label = own;
    }
    return groups;
  }

  std::string Fingerprint() const override;
  std::unique_ptr<ItemReader> NewReader() const override;
  std::vector<std::string> Notices() const override;

  const FolderItem& Item(size_t split, uint64_t item) const {
    return table_.items[table_.first_items[split] + item];
  }

  // Sets `path` to the file's path relative to the root.
  void GetPath(const FolderItem& item, std::string& path) const {
    path = table_.folders[item.folder].path;
    path += table_.names.data() + item.name;
  }

  const FolderTree& tree() const { return tree_; }
  const FolderTable& table() const { return table_; }
  const ImageOptions& image_options() const { return image_options_; }
  ImageCounters& counters() const { return counters_; }

 private:
  FolderTree tree_;
  FolderTable table_;
  ImageOptions image_options_;
  mutable ImageCounters counters_;
};

class FolderReader final : public ItemReader {
 public:
  explicit FolderReader(const FolderSource& source)
      : source_(source), images_(source.image_options(), source.counters()) {}

  void Read(size_t split, uint64_t item, Sample& sample) override {
    const FolderItem& file = source_.Item(split, item);
    source_.GetPath(file, path_);
    full_path_ = source_.tree().FullPath(path_);
    const ByteView bytes =
        source_.tree().is_remote()
            ? Fetch(split, item, file.size)
            : ReadItemFile(source_.tree().descriptor(), path_, file.size, full_path_, buffer_);
    const FileNames& names = AddFile(bytes, full_path_, images_, sample.features);
    sample.features.AddBytes(names.filename, AsBytes(path_));
    const int32_t label = source_.table().folders[file.folder].label;
    if (label < 0) return;
    sample.label = label;
    sample.features.AddInt64(names.label, label);
    sample.features.AddBytes(names.text, AsBytes(source_.class_names()[label]));
  }

  void Announce(size_t split, uint64_t item) override {
    const FolderItem& file = source_.Item(split, item);
    if (!source_.tree().is_remote() || file.size == 0 || file.size > kMaxItemBytes) return;
    source_.GetPath(file, path_);
    fetched_.try_emplace({split, item}, source_.tree().FullPath(path_), file.size);
  }

 private:
  // Returns the bytes of the object at full_path_; valid until the next call.
  ByteView Fetch(size_t split, uint64_t item, uint64_t size) {
    CheckItemSize(size, full_path_);
    fetched_.try_emplace({split, item}, full_path_, size);
    current_ = fetched_.extract({split, item});
    return current_.mapped().Wait();
  }

  const FolderSource& source_;
  ImageFields images_;
  ReadBuffer buffer_;
  std::map<std::pair<size_t, uint64_t>, remote::WholeObject> fetched_;  // announced, not yet read
  decltype(fetched_)::node_type current_;
  std::string path_;
  std::string full_path_;
};

std::unique_ptr<ItemReader> FolderSource::NewReader() const {
  return std::make_unique<FolderReader>(*this);
}

std::string FolderSource::Fingerprint() const {
  Sha256 hash;
  std::string text;
  for (size_t split = 0; split < table_.splits.size(); ++split) {
    text = format("{}\n{}\n", table_.splits[split].name, table_.splits[split].items);
    hash.Update(AsBytes(text));
    for (uint64_t i = 0; i < table_.splits[split].items; ++i) {
      const FolderItem& item = Item(split, i);
      GetPath(item, text);
      text += '\0';
      text.append(reinterpret_cast<const char*>(&item.size), sizeof item.size);
      hash.Update(AsBytes(text));
    }
  }
  return Hex(hash.Finish());
}

std::vector<std::string> FolderSource::Notices() const {
  std::vector<std::string> notices;
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) notices.push_back(format("{} {} left out", count, what));
  };
  add(table_.beside_classes, "files beside class folders");
  add(table_.hidden, "hidden files or folders");
  add(table_.special_files, "special files");
  counters_.AddNotices(notices);
  return notices;
}

}  // namespace

std::unique_ptr<Source> OpenFolder(const FolderOptions& options) {
  return std::make_unique<FolderSource>(options);
}

bool LooksLikeFolder(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace recpack::pack
