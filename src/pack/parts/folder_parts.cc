#include "src/pack/parts/folder_parts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = ".parts-";

[[noreturn]] void FailFile(const std::string& path, const std::error_code& reason) {
  throw Error(ErrorKind::kIo, reason.message(), {.path = path});
}

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
  std::error_code failed;
  fs::create_directories(out_, failed);
  if (failed) FailFile(out_, failed);
  if (const auto there = FindManifest()) {
    if (!overwrite_) RefuseSplit(*there, split_, out_);
  } else {
    for (const auto& entry : fs::directory_iterator(out_)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with(kPrefix)) RefuseOtherFiles(name, out_);
    }
  }
  fs::create_directory(parts_, failed);
  if (failed) FailFile(parts_, failed);
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
  std::vector<Manifest> manifests(paths.size());
  ParallelFor(paths.size(), kPartsAtOnce,
              [&](size_t, size_t i) { manifests[i] = ReadManifest(PosixFiles(), paths[i]); });
  const JoinedParts joined = JoinParts(split_, split_, paths, manifests);
  const std::string index = parts_ + "/" + joined.split.index;
  WriteJoinedIndex(joined, joined.indexes, index);
  auto old = FindManifest();
  if (old && overwrite_) {
    RemoveOld(*old);
    old.reset();
  }
  if (old) RefuseSplit(*old, split_, out_);
  MoveShards(joined);
  const std::string index_here = out_ + "/" + joined.split.index;
  try {
    PosixFiles().Rename(index, index_here, false);
    WriteManifest(PosixFiles(), out_,
                  JoinedManifest(old ? &*old : nullptr, manifests, joined.split));
  } catch (...) {
    std::error_code unknown;
    fs::remove(index_here, unknown);
    for (const std::string& file : joined.split.shards.files())
      fs::remove(out_ + "/" + file, unknown);
    throw;
  }
  Discard();
}

void FolderParts::MoveShards(const JoinedParts& joined) const {
  const auto& files = joined.split.shards.files();
  std::vector<std::string> to;
  for (const std::string& file : files) to.push_back(out_ + "/" + file);
  size_t moved = 0;
  try {
    for (; moved < to.size(); ++moved) {
      if (fs::exists(to[moved])) RefuseOtherFiles(files[moved], out_);
      PosixFiles().Rename(joined.from[moved], to[moved], false);
    }
  } catch (...) {
    std::error_code unknown;
    for (size_t i = 0; i < moved; ++i) fs::remove(to[i], unknown);
    throw;
  }
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
  if (failed) FailFile(parts_, failed);
}

}  // namespace recpack::pack
