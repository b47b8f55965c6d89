#include "src/dataset/tar_volumes.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/dataset/unpack.h"

namespace recpack {
namespace {

constexpr size_t kMaxOpenFiles = 16;  // of one reader

[[noreturn]] void FailChanged(const std::string& path) {
  throw Error(ErrorKind::kCorrupt, "changed while it was packed", {.path = path},
              "pack when nothing writes to it");
}

}  // namespace

TarVolumes::TarVolumes(std::vector<std::string> paths, std::string work_folder)
    : work_folder_(std::move(work_folder)) {
  for (std::string& path : paths) volumes_.push_back({.path = std::move(path), .range = {}});
}

std::shared_ptr<const ReadableFile> TarVolumes::Open(size_t i) {
  Volume& volume = volumes_[i];
  std::shared_ptr<const ReadableFile> file = PosixFiles().OpenForReading(volume.path);
  volume.range = {.begin = 0, .bytes = file->Size()};
  if (!IsCompressed(*file)) return file;
  const std::shared_ptr<SpoolFile> spool = TakeSpool();
  volume.range.begin = spool->Size();
  Unpack(*file, [&](ByteView bytes) { spool->Append(bytes); });
  volume.range.bytes = spool->Size() - volume.range.begin;
  volume.spool = spool.get();
  GiveBack(spool);
  return spool;
}

std::shared_ptr<SpoolFile> TarVolumes::TakeSpool() {
  const std::lock_guard lock(mutex_);
  if (free_spools_.empty()) {
    spools_.push_back(std::make_shared<SpoolFile>(work_folder_));
    return spools_.back();
  }
  const std::shared_ptr<SpoolFile> spool = std::move(free_spools_.back());
  free_spools_.pop_back();
  return spool;
}

void TarVolumes::GiveBack(std::shared_ptr<SpoolFile> spool) {
  const std::lock_guard lock(mutex_);
  free_spools_.push_back(std::move(spool));
}

const ReadableFile& TarVolumeReader::FileOf(size_t volume) {
  const auto found = std::ranges::find(open_, volume, &OpenFile::volume);
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return *open_.front().file;
  }
  const TarVolumes::Volume& info = volumes_[volume];
  auto file = PosixFiles().OpenForReading(info.path);
  if (file->Size() != info.range.bytes) FailChanged(info.path);
  if (open_.size() == kMaxOpenFiles) open_.pop_back();
  open_.push_front({volume, std::move(file)});
  return *open_.front().file;
}

void TarVolumeReader::Read(size_t volume, uint64_t offset, std::span<uint8_t> out) {
  const TarVolumes::Volume& info = volumes_[volume];
  const ReadableFile& file = info.spool != nullptr ? *info.spool : FileOf(volume);
  if (file.ReadAt(offset, out) != out.size()) FailChanged(info.path);
}

}  // namespace recpack
