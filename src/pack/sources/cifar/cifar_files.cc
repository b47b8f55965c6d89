#include "src/pack/sources/cifar/cifar_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/item/archive_members.h"
#include "src/shards/files/memory_file.h"

namespace recpack::pack {
namespace {

using HasFile = std::function<bool(std::string_view)>;

// Enough to see the folder and a batch, which come first in the official archives.
constexpr size_t kMembersToRecognise = 4;

std::span<const CifarLayout> Layouts() {
  static const CifarLayout kLayouts[] = {
      {CifarDataset::kCifar10,
       false,
       "cifar-10-batches-py",
       "cifar-10-python",
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
       "test_batch",
       {"batches.meta"}},
      {CifarDataset::kCifar10,
       true,
       "cifar-10-batches-bin",
       "cifar-10-binary",
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
        "data_batch_5.bin"},
       "test_batch.bin",
       {"batches.meta.txt"}},
      {CifarDataset::kCifar100,
       false,
       "cifar-100-python",
       "cifar-100-python",
       {"train"},
       "test",
       {"meta"}},
      {CifarDataset::kCifar100,
       true,
       "cifar-100-binary",
       "cifar-100-binary",
       {"train.bin"},
       "test.bin",
       {"fine_label_names.txt", "coarse_label_names.txt"}},
  };
  return kLayouts;
}

bool Asked(const CifarLayout& layout, CifarDataset dataset) {
  return dataset == CifarDataset::kAuto || dataset == layout.dataset;
}

std::vector<std::string_view> Batches(const CifarLayout& layout) {
  auto names = layout.train;
  names.push_back(layout.test);
  return names;
}

// CIFAR-10's names are unambiguous; "train" and "test" count only beside a meta file.
bool Matches(const CifarLayout& layout, const HasFile& has) {
  if (layout.dataset == CifarDataset::kCifar100 && !std::ranges::any_of(layout.meta, has)) {
    return false;
  }
  return std::ranges::any_of(Batches(layout), has);
}

const CifarLayout* Recognise(CifarDataset dataset, const HasFile& has) {
  for (const CifarLayout& layout : Layouts()) {
    if (Asked(layout, dataset) && Matches(layout, has)) return &layout;
  }
  return nullptr;
}

std::string Join(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

HasFile FilesIn(const std::string& folder) {
  return [folder](std::string_view name) { return IsFile(Join(folder, name)); };
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsCifarName(std::string_view name) {
  return std::ranges::any_of(Layouts(), [&](const CifarLayout& layout) {
    const auto is = [&](std::string_view known) { return known == name; };
    return std::ranges::any_of(Batches(layout), is) || std::ranges::any_of(layout.meta, is);
  });
}

// Location of a data set: a folder with its files, or an archive.
struct Found {
  std::string path;
  const CifarLayout* layout = nullptr;  // null: an archive that was not opened
};

std::optional<Found> FindInFolder(const std::string& path, CifarDataset dataset) {
  if (const CifarLayout* layout = Recognise(dataset, FilesIn(path))) return Found{path, layout};
  for (const CifarLayout& layout : Layouts()) {
    const std::string folder = Join(path, layout.folder);
    if (Asked(layout, dataset) && Matches(layout, FilesIn(folder))) return Found{folder, &layout};
  }
  for (const CifarLayout& layout : Layouts()) {
    if (!Asked(layout, dataset)) continue;
    for (const char* suffix : {".tar.gz", ".tar"}) {
      const std::string archive = Join(path, std::string(layout.archive) + suffix);
      if (IsFile(archive)) return Found{archive, nullptr};
    }
  }
  return {};
}

Error NotCifar(const std::string& path) {
  return Error(
      ErrorKind::kInvalidArgument, "is not a CIFAR data set: it has no batch files", {.path = path},
      "give the archive from cs.toronto.edu/~kriz/cifar.html, or the folder it extracts to");
}

Error MissingBatch(const std::string& path, std::string_view name) {
  return Error(ErrorKind::kNotFound, format("the batch file {} is missing", name), {.path = path},
               "extract or fetch the archive again");
}

using OpenByName = std::function<std::optional<CifarFile>(std::string_view)>;

CifarFiles OpenAll(const CifarLayout& layout, const std::string& path, const OpenByName& open) {
  CifarFiles all{.layout = &layout, .path = path, .batches = {}, .meta = {}};
  for (const std::string_view name : Batches(layout)) {
    auto file = open(name);
    if (!file) throw MissingBatch(path, name);
    all.batches.push_back(std::move(*file));
  }
  for (const std::string_view name : layout.meta) {
    if (auto file = open(name)) all.meta.push_back(std::move(*file));
  }
  return all;
}

CifarFiles OpenFolder(FileSystem& files, const Found& found) {
  return OpenAll(*found.layout, found.path, [&](std::string_view name) {
    std::optional<CifarFile> file;
    const std::string path = Join(found.path, name);
    if (IsFile(path)) file = {std::string(name), files.OpenForReading(path), {}};
    return file;
  });
}

CifarFiles OpenArchive(FileSystem& files, const std::string& path, CifarDataset dataset) {
  const auto archive = files.OpenForReading(path);
  std::map<std::string, std::shared_ptr<MemoryFile>, std::less<>> members;
  auto unpacked = ReadArchiveMembers(
      *archive, [](const std::string& name) { return IsCifarName(BaseName(name)); });
  for (ArchiveMember& member : unpacked) {
    const std::string name(BaseName(member.name));
    auto file = std::make_shared<MemoryFile>(Join(path, member.name), std::move(member.content),
                                             member.size);
    if (members.emplace(name, std::move(file)).second) continue;
    throw Error(ErrorKind::kUnsupported, format("holds several files named {}", name),
                {.path = path}, "extract it, and give the folder of one of them");
  }
  const CifarLayout* layout =
      Recognise(dataset, [&](std::string_view name) { return members.contains(name); });
  if (layout == nullptr) throw NotCifar(path);
  return OpenAll(*layout, path, [&](std::string_view name) {
    std::optional<CifarFile> file;
    const auto member = members.find(name);
    if (member != members.end()) {
      file = {std::string(name), member->second, member->second->bytes()};
    }
    return file;
  });
}

bool ArchiveLooksLikeCifar(const std::string& path) {
  const auto names = ListArchiveMembers(*PosixFiles().OpenForReading(path), kMembersToRecognise);
  return std::ranges::any_of(names, [](const std::string& name) {
    const std::string folder = name.substr(0, name.find('/'));
    return std::ranges::any_of(Layouts(),
                               [&](const CifarLayout& layout) { return layout.folder == folder; });
  });
}

}  // namespace

CifarFiles OpenCifarFiles(FileSystem& files, const std::string& path, CifarDataset dataset) {
  if (!IsFolder(path)) return OpenArchive(files, path, dataset);
  const auto found = FindInFolder(path, dataset);
  if (!found) throw NotCifar(path);
  if (found->layout == nullptr) return OpenArchive(files, found->path, dataset);
  return OpenFolder(files, *found);
}

bool LooksLikeCifar(const std::string& path) {
  try {
    if (IsFolder(path)) return FindInFolder(path, CifarDataset::kAuto).has_value();
    return IsFile(path) && ArchiveLooksLikeCifar(path);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace recpack::pack
