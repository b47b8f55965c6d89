// Files and file systems. The interfaces exist so that tests can inject failures.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack {

// Reads from `offset` of an open file into `out`, and goes on after interrupted and partial reads.
// Returns the number of bytes read, less than out.size() only at the end of the file; -1, with
// errno set, on failure. Thread-safe.
int64_t ReadFully(int fd, std::span<uint8_t> out, uint64_t offset) noexcept;

// Writes all of `bytes` at `offset` of an open file. Returns false, with errno set, on failure.
// Thread-safe.
bool WriteFully(int fd, ByteView bytes, uint64_t offset) noexcept;

// File open for positional reads. Thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  // Reads into `out` from `offset` and returns the number of bytes read, which is less than
  // out.size() only at the end of the file. Throws Error (kIo).
  virtual size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const = 0;

  // Reads bytes once more that ReadAt() gave and that are damaged, if they may have been damaged on
  // their way here. Returns 0, without reading, if reading again cannot help, as on a disk.
  virtual size_t ReadAgain(uint64_t /*offset*/, std::span<uint8_t> /*out*/) const { return 0; }

  // Returns bytes that lie in memory after WillNeed(), without copying them; `owner` keeps them
  // alive. Waits for them if they are on their way. Returns nothing, and the bytes are to be read,
  // if they do not. Throws as ReadAt().
  virtual ByteView View(uint64_t /*offset*/, uint64_t /*size*/,
                        std::shared_ptr<const void>& /*owner*/) const {
    return {};
  }

  // Hints that these bytes will be read soon. Does not block, reports no errors.
  virtual void WillNeed(uint64_t /*offset*/, uint64_t /*size*/) const noexcept {}

  // Returns the current size in bytes.
  virtual uint64_t Size() const = 0;

  // Returns the file descriptor, or -1 if there is none (for a file in memory).
  virtual int descriptor() const noexcept { return -1; }

  virtual const std::string& path() const noexcept = 0;
};

// File open for sequential writes. Not thread-safe. The destructor closes the file and ignores
// errors: call Close() to see them.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // Appends all of `bytes` or throws Error (kIo).
  virtual void Write(ByteView bytes) = 0;

  // Starts writeback of the data written so far, so that Sync() has less to wait for. A hint: may
  // block while the disk queue is full, reports no errors.
  virtual void StartSync() noexcept {}

  // Returns when the data written so far is durable.
  virtual void Sync() = 0;

  virtual void Close() = 0;

  virtual const std::string& path() const noexcept = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Throws Error: kNotFound, or kIo with the operating system's reason.
  virtual std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) = 0;

  // Creates the file, or truncates an existing one.
  virtual std::unique_ptr<WritableFile> Create(const std::string& path) = 0;

  // Replaces `to` atomically. With `durable`, returns when the rename is durable.
  virtual void Rename(const std::string& from, const std::string& to, bool durable) = 0;

  virtual void Remove(const std::string& path) = 0;

  virtual bool Exists(const std::string& path) = 0;

  // Tells whether the file can be mapped (MappedFile), and has a descriptor.
  virtual bool CanMap(const std::string& /*path*/) const { return true; }
};

// Returns the operating system's file system. Never destroyed. Thread-safe.
FileSystem& PosixFiles();

// Reads a whole file. Throws Error (kInvalidArgument) if it is larger than `max_bytes`.
ByteBuffer ReadWholeFile(FileSystem& files, const std::string& path,
                         uint64_t max_bytes = uint64_t{1} << 34);

// Writes a file atomically: writes PATH.tmp-PID, syncs it if `durable`, and renames it to `path`.
void WriteFileAtomically(FileSystem& files, const std::string& path, ByteView bytes,
                         bool durable = true);

// Like WriteFileAtomically(), for a file that `write` writes in pieces.
void WritePiecesAtomically(FileSystem& files, const std::string& path,
                           const std::function<void(WritableFile& file)>& write,
                           bool durable = true);

// Read-only memory mapping of a whole file. The file must not shrink while it is mapped: use it for
// files that are only replaced by rename, such as the index. An empty file gives an empty view.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  ByteView bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  ByteView bytes_;
};

}  // namespace recpack
