// Random access to a set of archives; compressed ones are unpacked first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/base/spool_file.h"
#include "src/pack/sources/tar/tar_index.h"
#include "src/shards/files/open_files.h"

namespace recpack::pack {

// Open() and Index() may be called from several threads with different volumes; reading starts when
// all are open.
class TarVolumes {
 public:
  struct Volume {
    std::string path;
    TarRange range;                    // of the archive in its file or spool
    const SpoolFile* spool = nullptr;  // its unpacked content; null: read the file itself
    std::shared_ptr<const ReadableFile> object = nullptr;  // in a store; read by all readers
  };

  // `work_folder` is passed to SpoolFile. Without `unpack`, compressed archives are refused.
  TarVolumes(std::vector<std::string> paths, std::string work_folder, bool unpack = true);

  size_t size() const { return volumes_.size(); }
  const Volume& operator[](size_t i) const { return volumes_[i]; }

  // File name without its folder.
  std::string Name(size_t i) const;

  // Finds the size of the archive, or unpacks it, and calls `use` with the file to read it from.
  void Open(size_t i, const std::function<void(const ReadableFile&)>& use);

  // Calls `add` for each member of the archive, as IndexTar(). Of an archive in an object store
  // they are kept in the cache folder: it is read through once.
  TarSummary Index(size_t i, const std::function<void(const TarMember&)>& add);

  // Returns true if some of the archives lie in an object store.
  bool are_remote() const noexcept { return are_remote_; }

 private:
  TarSummary IndexObject(Volume& volume, const std::function<void(const TarMember&)>& add);
  void OpenAhead(size_t i);
  const SpoolFile& UnpackTo(Volume& volume, const ReadableFile& file);

  std::vector<Volume> volumes_;
  bool are_remote_ = false;
  std::mutex opening_;
  size_t will_open_ = 0;  // the next to ask for; guarded by opening_
  SpoolPool spools_;
  bool unpack_;
};

// Reads from the archives of a TarVolumes, which must outlive it; limits the number of open files.
// One per reader; not thread-safe.
class TarVolumeReader {
 public:
  explicit TarVolumeReader(const TarVolumes& volumes) : volumes_(volumes) {}

  // Fills `out` from `offset`. Throws Error: kCorrupt if the archive has changed, kNotFound, kIo.
  void Read(size_t volume, uint64_t offset, std::span<uint8_t> out);

  // Hints that bytes of an archive in an object store will be read soon, by any reader.
  void WillNeed(size_t volume, uint64_t offset, uint64_t size) const noexcept;

 private:
  const TarVolumes& volumes_;
  OpenFiles files_;
};

}  // namespace recpack::pack
