// A set of archives, compressed ones unpacked, and reading from them at any place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/pack/sources/tar/tar_index.h"
#include "src/shards/files/open_files.h"
#include "src/shards/files/spool_file.h"

namespace recpack::pack {

// Open() from several threads, each with another index; reading begins when all are open.
class TarVolumes {
 public:
  struct Volume {
    std::string path;
    TarRange range;                    // of the archive in its file or spool
    const SpoolFile* spool = nullptr;  // where it is unpacked to; null: the file itself
  };

  // `work_folder` as SpoolFile has it. Without `unpack`, compressed archives are refused.
  TarVolumes(std::vector<std::string> paths, std::string work_folder, bool unpack = true);

  size_t size() const { return volumes_.size(); }
  const Volume& operator[](size_t i) const { return volumes_[i]; }

  // Without its folder.
  std::string Name(size_t i) const;

  // Finds out its size, or unpacks it, and calls `use` with the file it can be read from.
  void Open(size_t i, const std::function<void(const ReadableFile&)>& use);

 private:
  std::vector<Volume> volumes_;
  SpoolPool spools_;
  bool unpack_;
};

// Reads from the archives of one TarVolumes, which must outlive it, with few files open. One a
// reader; one thread at a time.
class TarVolumeReader {
 public:
  explicit TarVolumeReader(const TarVolumes& volumes) : volumes_(volumes) {}

  // Fills `out` from `offset`. Throws Error: kCorrupt where the archive changed, kNotFound, kIo.
  void Read(size_t volume, uint64_t offset, std::span<uint8_t> out);

 private:
  const TarVolumes& volumes_;
  OpenFiles files_;
};

}  // namespace recpack::pack
