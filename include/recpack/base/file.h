// Files. The interfaces exist so that tests can pass in a file system that fails on purpose.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "recpack/base/bytes.h"

namespace recpack {

// An open file for reading at any offset. Safe for any number of threads at once.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  // Fills `out` from `offset` on and returns the bytes read: fewer than asked for only at the end
  // of the file. Throws Error (kIo).
  virtual size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const = 0;

  // Tells that these bytes will be read soon. A hint: does not wait, reports nothing.
  virtual void WillNeed(uint64_t /*offset*/, uint64_t /*size*/) const noexcept {}

  // The size in bytes now.
  virtual uint64_t Size() const = 0;

  // The descriptor behind it, or -1 where there is none (a file that lives in memory).
  virtual int descriptor() const noexcept { return -1; }

  virtual const std::string& path() const noexcept = 0;
};

// A file that is written from its start to its end, by one thread at a time. A destructor closes it
// without saying whether that worked: call Close().
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // Appends all of `bytes` or throws Error (kIo).
  virtual void Write(ByteView bytes) = 0;

  // Begins to bring what was written so far to the disk, so that Sync() waits for less. A hint: may
  // wait while the disk's queue is full, and reports nothing.
  virtual void StartSync() noexcept {}

  // Returns when what was written would survive a power cut.
  virtual void Sync() = 0;

  virtual void Close() = 0;

  virtual const std::string& path() const noexcept = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Throws Error: kNotFound, or kIo with the reason of the operating system.
  virtual std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) = 0;

  // Creates the file or empties one that is there.
  virtual std::unique_ptr<WritableFile> Create(const std::string& path) = 0;

  // Replaces `to` atomically. With `durable`, returns when the new name would survive a power cut.
  virtual void Rename(const std::string& from, const std::string& to, bool durable) = 0;

  virtual void Remove(const std::string& path) = 0;

  virtual bool Exists(const std::string& path) = 0;
};

// The file system of the operating system. Lives for ever; safe for any number of threads.
FileSystem& PosixFiles();

// The whole file. `max_bytes` guards against a file that is not what its name says
// (kInvalidArgument).
ByteBuffer ReadWholeFile(FileSystem& files, const std::string& path,
                         uint64_t max_bytes = uint64_t{1} << 34);

// Writes `path` so that it is there whole or not at all: PATH.tmp-PID, (sync), rename.
void WriteFileAtomically(FileSystem& files, const std::string& path, ByteView bytes,
                         bool durable = true);

// The same for what is written a piece at a time, by `write`.
void WritePiecesAtomically(FileSystem& files, const std::string& path,
                           const std::function<void(WritableFile& file)>& write,
                           bool durable = true);

// A read-only mapping of a whole file that must not shrink while it is mapped: for files that are
// only ever replaced by rename, such as our index. An empty file gives an empty view.
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
