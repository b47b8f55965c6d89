#include "src/pack/item/archive_members.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <cerrno>
#include <optional>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

constexpr size_t kReadBytes = size_t{1} << 18;
constexpr uint64_t kMaxDeflateRatio = 1032;
constexpr uint64_t kMinGzipBytes = 18;  // header, shortest deflate stream or none, trailer
constexpr const char* kFetchAgain = "fetch it again and compare its checksum";

// Stream over a .tar or .tar.gz; the gzip trailer is checked after the last member.
class TarStream {
 public:
  explicit TarStream(const ReadableFile& file);

  // Returns false at the end of the archive.
  bool Next(archive_entry*& entry);

  // Reads the content of the current entry; `out` must have the size given in its header.
  void ReadContent(std::span<uint8_t> out, const std::string& name);

  // Reads what follows the last member and checks the gzip trailer. Call after Next() returned
  // false.
  void Finish();

  uint64_t largest_member() const {
    return compressed_ ? file_.Size() * kMaxDeflateRatio : file_.Size();
  }

 private:
  static la_ssize_t ReadFile(archive* reader, void* self, const void** block);
  static la_ssize_t ReadInflated(archive* reader, void* self, const void** block);
  la_ssize_t NextInflated(archive* reader, const void** block);
  void OpenInflater();
  [[noreturn]] void Fail(archive* reader, const char* what);

  const ReadableFile& file_;
  std::vector<uint8_t> buffer_;
  uint64_t file_offset_ = 0;
  std::optional<Error> read_error_;  // of the file; held across libarchive's C frames
  bool compressed_ = false;
  bool any_entry_ = false;
  bool inflated_all_ = false;
  bool inflate_failed_ = false;
  uint32_t crc_ = 0;
  uint64_t inflated_ = 0;
  Archive inflater_;
  Archive tar_;
};

Archive NewArchive() {
  Archive reader(archive_read_new(), &archive_read_free);
  if (reader == nullptr) throw std::bad_alloc();
  return reader;
}

TarStream::TarStream(const ReadableFile& file)
    : file_(file), buffer_(kReadBytes), inflater_(NewArchive()), tar_(NewArchive()) {
  uint8_t magic[2] = {};
  compressed_ = file.ReadAt(0, magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  if (compressed_) OpenInflater();
  archive_read_support_format_tar(tar_.get());
  const auto read = compressed_ ? &TarStream::ReadInflated : &TarStream::ReadFile;
  if (archive_read_open(tar_.get(), this, nullptr, read, nullptr) != ARCHIVE_OK) {
    Fail(tar_.get(), "cannot be opened as a tar archive");
  }
}

void TarStream::OpenInflater() {
  archive_read_support_filter_gzip(inflater_.get());
  archive_read_support_format_raw(inflater_.get());
  archive_read_support_format_empty(inflater_.get());
  archive_entry* entry = nullptr;
  int status = archive_read_open(inflater_.get(), this, nullptr, &TarStream::ReadFile, nullptr);
  if (status == ARCHIVE_OK) status = archive_read_next_header(inflater_.get(), &entry);
  inflated_all_ = status == ARCHIVE_EOF;  // nothing was compressed
  if (status == ARCHIVE_OK || inflated_all_) return;
  inflate_failed_ = true;
  Fail(inflater_.get(), "is damaged or cut off at its start");
}

la_ssize_t TarStream::ReadFile(archive* reader, void* self, const void** block) {
  auto& stream = *static_cast<TarStream*>(self);
  try {
    const size_t got = stream.file_.ReadAt(stream.file_offset_, stream.buffer_);
    stream.file_offset_ += got;
    *block = stream.buffer_.data();
    return static_cast<la_ssize_t>(got);
  } catch (const Error& error) {
    stream.read_error_ = error;
    archive_set_error(reader, EIO, "%s", error.what());
    return -1;
  }
}

la_ssize_t TarStream::ReadInflated(archive* reader, void* self, const void** block) {
  return static_cast<TarStream*>(self)->NextInflated(reader, block);
}

la_ssize_t TarStream::NextInflated(archive* reader, const void** block) {
  if (inflated_all_) return 0;
  size_t size = 0;
  la_int64_t offset = 0;
  const int status = archive_read_data_block(inflater_.get(), block, &size, &offset);
  if (status == ARCHIVE_EOF) {
    inflated_all_ = true;
    return 0;
  }
  if (status != ARCHIVE_OK) {
    inflate_failed_ = true;
    archive_set_error(reader, EIO, "%s", archive_error_string(inflater_.get()));
    return -1;
  }
  crc_ = static_cast<uint32_t>(crc32_z(crc_, static_cast<const Bytef*>(*block), size));
  inflated_ += size;
  return static_cast<la_ssize_t>(size);
}

void TarStream::Fail(archive* reader, const char* what) {
  if (read_error_) throw *read_error_;
  const char* reason = archive_error_string(reader);
  const bool is_archive = any_entry_ || inflate_failed_;
  throw Error(is_archive ? ErrorKind::kCorrupt : ErrorKind::kInvalidArgument,
              format("{} ({})", what, reason != nullptr ? reason : "no reason given"),
              {.path = file_.path()}, is_archive ? kFetchAgain : "");
}

bool TarStream::Next(archive_entry*& entry) {
  const int status = archive_read_next_header(tar_.get(), &entry);
  if (status == ARCHIVE_EOF) return false;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
    Fail(tar_.get(), any_entry_ ? "is damaged or cut off" : "is not a readable tar archive");
  }
  any_entry_ = true;
  return true;
}

void TarStream::ReadContent(std::span<uint8_t> out, const std::string& name) {
  size_t done = 0;
  while (done < out.size()) {
    const la_ssize_t got = archive_read_data(tar_.get(), out.data() + done, out.size() - done);
    if (got < 0) Fail(tar_.get(), format("is damaged or cut off within {}", name).c_str());
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  if (done == out.size()) return;
  throw Error(ErrorKind::kCorrupt,
              format("ends within {}: {} of {} bytes are there", name, done, out.size()),
              {.path = file_.path()}, kFetchAgain);
}

void TarStream::Finish() {
  if (!compressed_) return;
  const void* block = nullptr;
  while (!inflated_all_) {
    if (NextInflated(tar_.get(), &block) < 0) Fail(tar_.get(), "is damaged or cut off");
  }
  uint8_t trailer[8];
  const uint64_t size = file_.Size();
  if (size < kMinGzipBytes || file_.ReadAt(size - 8, trailer) != 8) {
    throw Error(ErrorKind::kCorrupt, "is cut off", {.path = file_.path()}, kFetchAgain);
  }
  if (LoadLittleEndian<uint32_t>(trailer + 4) != static_cast<uint32_t>(inflated_)) {
    throw Error(ErrorKind::kCorrupt,
                "its length is not the one stored at its end: it is cut off (or several gzip "
                "streams in one file, which are not read)",
                {.path = file_.path()}, kFetchAgain);
  }
  if (LoadLittleEndian<uint32_t>(trailer) == crc_) return;
  throw Error(ErrorKind::kCorrupt, "its content does not have the CRC-32 that gzip stored with it",
              {.path = file_.path()}, kFetchAgain);
}

std::string EntryName(archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  return name != nullptr ? name : "";
}

}  // namespace

std::vector<ArchiveMember> ReadArchiveMembers(
    const ReadableFile& file, const std::function<bool(const std::string&)>& wanted) {
  TarStream tar(file);
  std::vector<ArchiveMember> members;
  archive_entry* entry = nullptr;
  while (tar.Next(entry)) {
    std::string name = EntryName(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || !wanted(name)) continue;
    const auto size = static_cast<uint64_t>(archive_entry_size(entry));
    if (size > tar.largest_member()) {
      throw Error(ErrorKind::kCorrupt, format("says that {} is {} bytes long", name, size),
                  {.path = file.path()}, kFetchAgain);
    }
    auto content = std::make_unique_for_overwrite<uint8_t[]>(size);
    tar.ReadContent({content.get(), size}, name);
    members.push_back({std::move(name), std::move(content), size});
  }
  tar.Finish();
  return members;
}

std::vector<std::string> ListArchiveMembers(const ReadableFile& file, size_t count) {
  TarStream tar(file);
  std::vector<std::string> names;
  archive_entry* entry = nullptr;
  while (names.size() < count && tar.Next(entry)) names.push_back(EntryName(entry));
  return names;
}

}  // namespace recpack::pack
