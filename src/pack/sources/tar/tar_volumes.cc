#include "src/pack/sources/tar/tar_volumes.h"

#include <algorithm>
#include <string_view>

#include "recpack/base/error.h"
#include "src/pack/item/unpack.h"
#include "src/pack/sources/tar/tar_members.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/sequential_file.h"
#include "src/remote/url/url.h"

namespace recpack::pack {
namespace {

// Objects opened ahead of the one that is indexed.
constexpr size_t kOpenedAhead = 64;

}  // namespace

TarVolumes::TarVolumes(std::vector<std::string> paths, std::string work_folder, bool unpack)
    : spools_(std::move(work_folder)), unpack_(unpack) {
  for (std::string& path : paths) {
    are_remote_ |= remote::IsUrl(path);
    volumes_.push_back({.path = std::move(path), .range = {}});
  }
}

std::string TarVolumes::Name(size_t i) const {
  const std::string_view path = remote::WithoutQuery(volumes_[i].path);
  return std::string(path.substr(path.rfind('/') + 1));
}

void TarVolumes::Open(size_t i, const std::function<void(const ReadableFile&)>& use) {
  Volume& volume = volumes_[i];
  const auto file = PosixFiles().OpenForReading(volume.path);
  volume.range = {.begin = 0, .bytes = file->Size()};
  IsCompressed(*file) ? use(UnpackTo(volume, *file)) : use(*file);
}

const SpoolFile& TarVolumes::UnpackTo(Volume& volume, const ReadableFile& file) {
  if (!unpack_) {
    throw Error(ErrorKind::kUnsupported, "is compressed, which does not allow random access",
                {.path = remote::WithoutSecrets(volume.path)},
                "pack it: recpack pack SRC OUT --from tar; or unpack the archive");
  }
  SpoolFile& spool = spools_.Take();
  volume.range.begin = spool.Size();
  Unpack(file, [&](ByteView bytes) { spool.Append(bytes); });
  volume.range.bytes = spool.Size() - volume.range.begin;
  volume.spool = &spool;
  spools_.GiveBack(spool);
  return spool;
}

TarSummary TarVolumes::Index(size_t i, const std::function<void(const TarMember&)>& add) {
  Volume& volume = volumes_[i];
  if (remote::IsUrl(volume.path)) {
    OpenAhead(i);
    return IndexObject(volume, add);
  }
  TarSummary summary;
  Open(i,
       [&](const ReadableFile& file) { summary = IndexTar(file, volume.range, volume.path, add); });
  return summary;
}

TarSummary TarVolumes::IndexObject(Volume& volume,
                                   const std::function<void(const TarMember&)>& add) {
  const std::string name = remote::WithoutSecrets(volume.path);
  const std::shared_ptr<const ReadableFile> object =
      remote::DataFiles().OpenForReading(volume.path);
  volume.range = {.begin = 0, .bytes = object->Size()};
  const std::string kept = PathOfMembers(*object);
  if (const auto known = LoadTarMembers(kept)) {
    for (const TarMember& member : known->members) add(member);
    volume.object = object;
    return known->summary;
  }
  const remote::SequentialFile file(*object);
  if (IsCompressed(file)) return IndexTar(UnpackTo(volume, file), volume.range, name, add);
  TarMembers all;
  all.summary = IndexTar(file, volume.range, name, [&](const TarMember& member) {
    add(member);
    all.members.push_back(member);
  });
  SaveTarMembers(kept, all);
  volume.object = object;
  return all.summary;
}

// Asks for the beginnings of the objects up to some after `i`, each once: what was asked for before
// it is opened is taken then; what is asked for later would stay.
void TarVolumes::OpenAhead(size_t i) {
  const std::lock_guard lock(opening_);
  for (; will_open_ < std::min(i + kOpenedAhead, volumes_.size()); ++will_open_) {
    if (remote::IsUrl(volumes_[will_open_].path)) remote::WillOpen(volumes_[will_open_].path);
  }
}

void TarVolumeReader::Read(size_t volume, uint64_t offset, std::span<uint8_t> out) {
  const TarVolumes::Volume& info = volumes_[volume];
  const ReadableFile& file = info.object ? *info.object
                             : info.spool != nullptr
                                 ? *info.spool
                                 : files_.Get(volume, info.path, info.range.bytes);
  if (file.ReadAt(offset, out) != out.size()) FailChanged(info.path);
}

void TarVolumeReader::WillNeed(size_t volume, uint64_t offset, uint64_t size) const noexcept {
  if (const auto& object = volumes_[volume].object) object->WillNeed(offset, size);
}

}  // namespace recpack::pack
