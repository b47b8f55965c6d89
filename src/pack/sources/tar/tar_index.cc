#include "src/pack/sources/tar/tar_index.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>

#include "recpack/base/bytes.h"
#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::pack {
namespace {

// Size of a read: small after a skip, when only a header is needed, and growing while members are
// so small that they are skipped within the buffer.
constexpr size_t kMinReadBytes = size_t{1} << 12;
constexpr size_t kMaxReadBytes = size_t{1} << 16;
constexpr uint64_t kTarBlock = 512;
constexpr const char* kFetchAgain = "fetch it again and compare its checksum";

// Shared by all threads and never freed; null if the system has no UTF-8 locale.
locale_t Utf8() {
  static const locale_t kUtf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
  return kUtf8;
}

// libarchive converts pax names to the thread's character set; in UTF-8 that changes nothing.
class Utf8Names {
 public:
  Utf8Names() : before_(Utf8() != locale_t{} ? ::uselocale(Utf8()) : locale_t{}) {}
  ~Utf8Names() {
    if (before_ != locale_t{}) ::uselocale(before_);
  }
  Utf8Names(const Utf8Names&) = delete;

 private:
  const locale_t before_;
};

bool Escapes(std::string_view name) {
  if (name.starts_with('/')) return true;
  const std::string padded = format("/{}/", name);
  return padded.find("/../") != std::string::npos;
}

class TarIndexer {
 public:
  TarIndexer(const ReadableFile& file, TarRange range, const std::string& name)
      : file_(file),
        position_(range.begin),
        end_(range.begin + range.bytes),
        begin_(range.begin),
        members_end_(range.begin),
        name_(name),
        buffer_(kMaxReadBytes),
        archive_(archive_read_new(), &archive_read_free) {
    if (archive_ == nullptr) throw std::bad_alloc();
    archive_read_support_format_tar(archive_.get());
    archive_read_set_callback_data(archive_.get(), this);
    archive_read_set_read_callback(archive_.get(), &ReadCallback);
    archive_read_set_skip_callback(archive_.get(), &SkipCallback);
    if (archive_read_open1(archive_.get()) != ARCHIVE_OK) FailHeader();
  }

  TarSummary Run(const std::function<void(const TarMember&)>& add) {
    archive_entry* entry = nullptr;
    while (NextHeader(entry)) {
      any_entry_ = true;
      const uint64_t offset = begin_ + Consumed();
      if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) == AE_IFLNK) {
        ++summary_.links;
      } else if (archive_entry_filetype(entry) == AE_IFREG) {
        add(Member(entry, offset));
      }
      const auto size = static_cast<uint64_t>(archive_entry_size(entry));
      members_end_ = offset + (size + kTarBlock - 1) / kTarBlock * kTarBlock;
    }
    CheckEnd();
    return summary_;
  }

 private:
  static la_ssize_t ReadCallback(archive* reader, void* self, const void** block) {
    auto& indexer = *static_cast<TarIndexer*>(self);
    try {
      const uint64_t left = indexer.end_ - indexer.position_;
      const std::span<uint8_t> room =
          std::span(indexer.buffer_).first(std::min<uint64_t>(left, indexer.next_read_));
      indexer.next_read_ = std::min(indexer.next_read_ * 2, kMaxReadBytes);
      const size_t got = indexer.file_.ReadAt(indexer.position_, room);
      indexer.position_ += got;
      *block = indexer.buffer_.data();
      return static_cast<la_ssize_t>(got);
    } catch (...) {
      indexer.read_error_ = std::current_exception();
      archive_set_error(reader, EIO, "read failed");
      return -1;
    }
  }

  static la_int64_t SkipCallback(archive*, void* self, la_int64_t request) {
    auto& indexer = *static_cast<TarIndexer*>(self);
    const uint64_t left = indexer.end_ - indexer.position_;
    const uint64_t skipped = std::min(left, static_cast<uint64_t>(request));
    indexer.position_ += skipped;
    indexer.next_read_ = kMinReadBytes;
    return static_cast<la_int64_t>(skipped);
  }

  uint64_t Consumed() { return static_cast<uint64_t>(archive_filter_bytes(archive_.get(), -1)); }

  bool NextHeader(archive_entry*& entry) {
    const int status = archive_read_next_header(archive_.get(), &entry);
    if (status == ARCHIVE_EOF) return false;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) FailHeader();
    return true;
  }

  TarMember Member(archive_entry* entry, uint64_t offset) const {
    const char* path = archive_entry_pathname(entry);
    std::string_view member = path != nullptr ? path : "";
    while (member.starts_with("./")) member.remove_prefix(2);
    const auto size = static_cast<uint64_t>(archive_entry_size(entry));
    if (member.empty()) Fail(ErrorKind::kCorrupt, "has a member without a name", offset, "");
    if (Escapes(member)) {
      Fail(ErrorKind::kCorrupt, format("its member {} would lie outside of the archive", member),
           offset, "create the archive again, with relative names");
    }
    if (archive_entry_sparse_count(entry) > 0) {
      Fail(ErrorKind::kUnsupported, format("its member {} is stored as a sparse file", member),
           offset, "create the archive again, without --sparse");
    }
    if (size > end_ - std::min(end_, offset)) {
      Fail(ErrorKind::kCorrupt,
           format("is cut off within {}: {} of {} bytes are there", member,
                  end_ - std::min(end_, offset), size),
           offset, kFetchAgain);
    }
    return {.name = std::string(member), .offset = offset, .size = size};
  }

  // Only the end mark tells a complete archive from one cut between two members.
  void CheckEnd() {
    uint64_t position = members_end_;
    for (; position < end_; position += kTarBlock) {
      if (IsZero(position)) continue;
      Fail(ErrorKind::kCorrupt, "has data after its end mark: several archives in one file?",
           position, "give each archive its own file");
    }
    if (position > members_end_) return;
    Fail(ErrorKind::kCorrupt, "ends without an end mark: it is cut off", end_, kFetchAgain);
  }

  bool IsZero(uint64_t position) const {
    uint8_t block[kTarBlock];
    const size_t size = std::min<uint64_t>(kTarBlock, end_ - position);
    return file_.ReadAt(position, {block, size}) == size &&
           std::all_of(block, block + size, [](uint8_t byte) { return byte == 0; });
  }

  [[noreturn]] void Fail(ErrorKind kind, const std::string& reason, uint64_t offset,
                         const char* advice) const {
    throw Error(kind, reason, {.path = name_, .offset = offset - begin_}, advice);
  }

  [[noreturn]] void FailHeader() {
    if (read_error_) std::rethrow_exception(read_error_);
    const char* why = archive_error_string(archive_.get());
    const std::string reason = why != nullptr ? why : "no reason given";
    if (!any_entry_) {
      Fail(ErrorKind::kInvalidArgument, format("is not a tar archive ({})", reason), begin_, "");
    }
    Fail(ErrorKind::kCorrupt, format("is damaged or cut off ({})", reason), begin_ + Consumed(),
         kFetchAgain);
  }

  const ReadableFile& file_;
  uint64_t position_;  // of the next read
  uint64_t end_;
  uint64_t begin_;
  uint64_t members_end_;  // end of the members seen so far, including padding
  const std::string& name_;
  ByteBuffer buffer_;
  size_t next_read_ = kMinReadBytes;
  Utf8Names utf8_names_;
  bool any_entry_ = false;
  TarSummary summary_;
  std::exception_ptr read_error_;  // held across libarchive's C frames
  std::unique_ptr<archive, decltype(&archive_read_free)> archive_;
};

}  // namespace

TarSummary IndexTar(const ReadableFile& file, TarRange range, const std::string& name,
                    const std::function<void(const TarMember&)>& add) {
  return TarIndexer(file, range, name).Run(add);
}

}  // namespace recpack::pack
