#include "src/ceiling/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/random.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"

namespace recpack::ceiling {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPiece = size_t{1} << 20;
constexpr uint64_t kPiecesOfSync =
    16;  // pieces between syncs, so that the time limit covers the disk

void WriteAll(int file, const ByteBuffer& bytes, const std::string& folder) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(file, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw SystemError("cannot write a file to measure with in", folder, errno);
    done += static_cast<size_t>(wrote);
  }
}

}  // namespace

ScratchFile ScratchFile::OnDisk(const std::string& folder, uint64_t bytes,
                                std::chrono::nanoseconds time) {
  ScratchFile scratch{
      Descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR))};
  const int file = scratch.file_.get();
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    throw Error(ErrorKind::kUnsupported, "its file system does not support unnamed temporary files",
                {.path = folder}, "give files to read with --data");
  }
  if (file < 0) throw SystemError("cannot write a file to measure with in", folder, errno);
  const auto end = Clock::now() + time;
  KeyedRandom random(0, 0, 0);
  ByteBuffer piece(kPiece);
  for (size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<uint8_t>(random.NextU32());
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    if (done > 0 && Clock::now() > end) bytes = done + kPiece;  // stop after this piece
    for (size_t i = 0; i < piece.size(); i += 4096) piece[i] = static_cast<uint8_t>(done / kPiece);
    WriteAll(file, piece, folder);
    const bool last = done + kPiece >= bytes;
    if ((last || (done / kPiece) % kPiecesOfSync == 0) && ::fdatasync(file) != 0) {
      throw SystemError("cannot write to", folder, errno);
    }
  }
  return scratch;
}

ScratchFile ScratchFile::Memory() {
  ScratchFile scratch{Descriptor(::memfd_create("recpack-scratch", MFD_CLOEXEC))};
  if (scratch.file_.get() < 0) throw SystemError("cannot make", "a file in memory", errno);
  return scratch;
}

ScratchFile ScratchFile::InMemory(uint64_t bytes) {
  ScratchFile scratch = Memory();
  const ByteBuffer piece(kPiece, uint8_t{1});
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    WriteAll(scratch.file_.get(), piece, "memory");
  }
  return scratch;
}

ScratchFile ScratchFile::CompressedShard(int records, size_t record_bytes) {
  ScratchFile scratch = Memory();
  RecordWriter writer(PosixFiles().Create(scratch.path()), {.compression = Compression::kGzip});
  KeyedRandom random(0, 0, 1);
  for (int i = 0; i < records; ++i) {
    ByteBuffer record(record_bytes);
    // Letters with an uneven distribution, as in text.
    for (uint8_t& byte : record) {
      byte = static_cast<uint8_t>('a' + random.NextBelow(1 + random.NextBelow(26)));
    }
    writer.Write(record);
  }
  writer.Finish(false);
  return scratch;
}

std::string ScratchFile::path() const { return format("/proc/self/fd/{}", file_.get()); }

}  // namespace recpack::ceiling
