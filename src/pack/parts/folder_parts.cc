#include "src/pack/parts/folder_parts.h"

#include <filesystem>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = ".parts-";

}  // namespace

FolderParts::FolderParts(const std::string& out, std::string split, const std::string& job,
                         bool overwrite)
    : out_(out),
      split_(std::move(split)),
      parts_(out + "/" + kPrefix + job),
      overwrite_(overwrite) {}

std::optional<Manifest> FolderParts::FindManifest() const {
  if (!PosixFiles().Exists(out_ + "/" + kManifestName)) return {};
  return ReadManifest(PosixFiles(), out_);
}

void FolderParts::Begin() const {
  MakeFolder(out_);
  if (const auto there = FindManifest()) {
    if (!overwrite_) RefuseSplit(*there, split_, out_);
  } else {
    for (const auto& entry : fs::directory_iterator(out_)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with(kPrefix)) RefuseOtherFiles(name, out_);
    }
  }
  MakeFolder(parts_);
}

void FolderParts::RefuseEnded() const {
  if (!fs::exists(parts_)) RefuseLate(out_);
}

void FolderParts::Add(const std::string& folder, const std::string& name) const {
  RefuseEnded();
  PosixFiles().Rename(folder, parts_ + "/" + name, false);
}

void FolderParts::Publish(const std::vector<std::string>& names) const {
  if (names.empty()) return Discard();
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(parts_ + "/" + name);
  const std::vector<Manifest> manifests = ReadManifests(PosixFiles(), paths);
  const JoinedParts joined = JoinParts(split_, split_, paths, manifests);
  const std::string index = parts_ + "/" + joined.split.index;
  WriteJoinedIndex(joined, joined.indexes, index);
  auto old = FindManifest();
  if (old && overwrite_) {
    RemoveOld(*old);
    old.reset();
  }
  if (old) RefuseSplit(*old, split_, out_);
  std::vector<std::string> made;
  const auto move = [&](const std::string& from, const std::string& file) {
    const std::string to = out_ + "/" + file;
    PosixFiles().Rename(from, to, false);
    made.push_back(to);
  };
  try {
    const auto& files = joined.split.shards.files();
    for (size_t i = 0; i < joined.from.size(); ++i) {
      if (fs::exists(out_ + "/" + files[i])) RefuseOtherFiles(files[i], out_);
      move(joined.from[i], files[i]);
    }
    move(index, joined.split.index);
    WriteManifest(PosixFiles(), out_,
                  JoinedManifest(old ? &*old : nullptr, manifests, joined.split));
  } catch (...) {
    std::error_code unknown;
    for (const std::string& path : made) fs::remove(path, unknown);
    throw;
  }
  Discard();
}

void FolderParts::RemoveOld(const Manifest& old) const {
  PosixFiles().Remove(out_ + "/" + kManifestName);  // first: what is left is no data set
  std::error_code unknown;
  for (const std::string& file : old.FileNames()) fs::remove(out_ + "/" + file, unknown);
  fs::remove_all(out_ + "/" + kStateFolder, unknown);
}

void FolderParts::Discard() const {
  std::error_code failed;
  fs::remove_all(parts_, failed);
  if (failed) throw Error(ErrorKind::kIo, failed.message(), {.path = parts_});
}

}  // namespace recpack::pack
