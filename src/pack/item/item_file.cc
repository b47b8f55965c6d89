#include "src/pack/item/item_file.h"

#include <fcntl.h>

#include <cerrno>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

// Reads until `room` is full or the file ends. A short read of a regular file means its end.
size_t ReadAll(int fd, std::span<uint8_t> room, size_t expected, const std::string& name) {
  size_t done = 0;
  while (done < room.size()) {
    const ssize_t got = ::read(fd, room.data() + done, room.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError("cannot read", name, errno);
    done += static_cast<size_t>(got);
    if (got == 0 || done == expected) break;
  }
  return done;
}

}  // namespace

void CheckItemSize(uint64_t size, const std::string& name) {
  if (size == 0) throw Error(ErrorKind::kCorrupt, "is empty", {.path = name});
  if (size > kMaxItemBytes) {
    throw Error(ErrorKind::kUnsupported, format("has {} bytes; a record holds 4 GiB", size),
                {.path = name});
  }
}

ByteView ReadItemFile(int folder, const std::string& path, uint64_t size, const std::string& name,
                      ReadBuffer& buffer) {
  if (size > kMaxItemBytes) CheckItemSize(size, name);
  // O_NONBLOCK: do not wait for a writer if the file has been replaced by a pipe.
  const Descriptor fd(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throw SystemError("cannot open", name, errno);
  const std::span<uint8_t> room = buffer.Room(size + 1);
  const size_t got = ReadAll(fd.get(), room, size, name);
  if (got != size) {
    throw Error(ErrorKind::kCorrupt,
                format("changed after it was opened: it had {} bytes and now has {}{}", size,
                       got > size ? "more than " : "", got > size ? size : got),
                {.path = name}, "pack again when no other program writes to it");
  }
  CheckItemSize(size, name);
  return room.first(size);
}

}  // namespace recpack::pack
