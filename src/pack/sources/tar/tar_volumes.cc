#include "src/pack/sources/tar/tar_volumes.h"

#include "recpack/base/error.h"
#include "src/pack/item/unpack.h"

namespace recpack::pack {

TarVolumes::TarVolumes(std::vector<std::string> paths, std::string work_folder, bool unpack)
    : spools_(std::move(work_folder)), unpack_(unpack) {
  for (std::string& path : paths) volumes_.push_back({.path = std::move(path), .range = {}});
}

std::string TarVolumes::Name(size_t i) const {
  const std::string& path = volumes_[i].path;
  return path.substr(path.rfind('/') + 1);
}

void TarVolumes::Open(size_t i, const std::function<void(const ReadableFile&)>& use) {
  Volume& volume = volumes_[i];
  const auto file = PosixFiles().OpenForReading(volume.path);
  volume.range = {.begin = 0, .bytes = file->Size()};
  if (!IsCompressed(*file)) return use(*file);
  if (!unpack_) {
    throw Error(ErrorKind::kUnsupported, "is compressed, which does not allow random access",
                {.path = volume.path},
                "pack it: recpack pack SRC OUT --from tar; or unpack the archive");
  }
  SpoolFile& spool = spools_.Take();
  volume.range.begin = spool.Size();
  Unpack(*file, [&](ByteView bytes) { spool.Append(bytes); });
  volume.range.bytes = spool.Size() - volume.range.begin;
  volume.spool = &spool;
  spools_.GiveBack(spool);
  use(spool);
}

void TarVolumeReader::Read(size_t volume, uint64_t offset, std::span<uint8_t> out) {
  const TarVolumes::Volume& info = volumes_[volume];
  const ReadableFile& file =
      info.spool != nullptr ? *info.spool : files_.Get(volume, info.path, info.range.bytes);
  if (file.ReadAt(offset, out) != out.size()) FailChanged(info.path);
}

}  // namespace recpack::pack
