// Computes a file's SHA-256 while something else reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "recpack/base/file.h"
#include "recpack/base/hash.h"

namespace recpack::pack {

// Digest of a file whose bytes come in order, for the most part. One thread at a time.
class FileDigest {
 public:
  // Takes bytes that were read from `offset`; those that it has, or that leave a gap, are left out.
  void See(uint64_t offset, ByteView bytes);

  // Bytes were damaged on their way and came again: those that it took may be wrong.
  void Doubt() noexcept { doubted_ = true; }

  // Returns the digest of the whole file, from which it reads what it has not seen. Throws Error
  // (kIo).
  Sha256Digest Finish(const ReadableFile& file);

 private:
  Sha256 digest_;
  uint64_t seen_ = 0;
  bool doubted_ = false;
};

// Shows a digest, if there is one, what is read from a file. One thread at a time. Both must
// outlive it.
class DigestedFile final : public ReadableFile {
 public:
  DigestedFile(const ReadableFile& file, FileDigest* digest) : file_(file), digest_(digest) {}

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  size_t ReadAgain(uint64_t offset, std::span<uint8_t> out) const override;
  void WillNeed(uint64_t offset, uint64_t size) const noexcept override {
    file_.WillNeed(offset, size);
  }
  uint64_t Size() const override { return file_.Size(); }
  int descriptor() const noexcept override { return file_.descriptor(); }
  const std::string& path() const noexcept override { return file_.path(); }

 private:
  const ReadableFile& file_;
  FileDigest* const digest_;
};

}  // namespace recpack::pack
