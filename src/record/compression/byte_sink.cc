#include "src/record/compression/byte_sink.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/record/crc/shard_check.h"

namespace recpack {
namespace {

// Interval of StartSync(): small enough to keep the disk busy, large enough for large requests.
constexpr uint64_t kStartSyncBytes = uint64_t{4} << 20;

// Writes to the file and updates its size and digest. After a failed call the contents of the file
// are unknown, so all later calls fail as well.
class FileSink final : public ByteSink {
 public:
  FileSink(std::unique_ptr<WritableFile> file, const WriterOptions& options)
      : file_(std::move(file)), start_sync_(options.start_sync) {
    if (options.digest) sha_.emplace();
  }

  void Write(ByteView bytes) override {
    if (bytes.empty()) return;
    Begin();
    if (sha_) sha_->Update(bytes);
    file_->Write(bytes);
    written_ += bytes.size();
    if (start_sync_ && written_ - started_ >= kStartSyncBytes) {
      file_->StartSync();
      started_ = written_;
    }
    KeepTail(bytes);
    usable_ = true;
  }

  uint64_t Flush() override { return written_; }

  uint64_t Finish(bool sync) override {
    Begin();  // for good
    if (sync) file_->Sync();
    file_->Close();
    if (sha_) digest_ = sha_->Finish();
    return written_;
  }

  std::optional<Sha256Digest> digest() const override { return digest_; }
  ByteView tail() const override { return tail_; }

  const std::string& path() const { return file_->path(); }

 private:
  // Marks the file as unusable until the call succeeds.
  void Begin() {
    if (!std::exchange(usable_, false)) {
      throw Error(ErrorKind::kIo, "is incomplete: it was finished, or could not be written before",
                  {.path = file_->path()}, "write it again");
    }
  }

  void KeepTail(ByteView bytes) {
    const ByteView last = bytes.last(std::min(bytes.size(), kTailBytes));
    tail_.insert(tail_.end(), last.begin(), last.end());
    if (tail_.size() > kTailBytes) {
      tail_.erase(tail_.begin(), tail_.end() - static_cast<ptrdiff_t>(kTailBytes));
    }
  }

  std::unique_ptr<WritableFile> file_;
  ByteBuffer tail_;
  bool usable_ = true;
  bool start_sync_;
  uint64_t written_ = 0;
  uint64_t started_ = 0;  // bytes whose writeback has started
  std::optional<Sha256> sha_;
  std::optional<Sha256Digest> digest_;
};

// Uses zlib rather than a faster library, because its output does not depend on the CPU.
class DeflateSink final : public ByteSink {
 public:
  DeflateSink(FileSink file, const WriterOptions& options) : file_(std::move(file)) {
    // Window bits: 15 for a zlib stream, plus 16 for gzip.
    const int window = options.compression == Compression::kGzip ? 15 + 16 : 15;
    if (deflateInit2(&stream_, options.level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw Error(ErrorKind::kInvalidArgument, "zlib refused the compression level",
                  {.path = file_.path()}, "choose 1 to 9");
    }
    buffer_.resize(size_t{1} << 18);
  }
  ~DeflateSink() override { deflateEnd(&stream_); }
  DeflateSink(const DeflateSink&) = delete;

  void Write(ByteView bytes) override {
    constexpr size_t kMost = size_t{1} << 30;  // avail_in is 32 bits wide
    while (!bytes.empty()) {
      const ByteView part = bytes.first(std::min(bytes.size(), kMost));
      Deflate(part, Z_NO_FLUSH);
      bytes = bytes.subspan(part.size());
    }
  }

  uint64_t Flush() override {
    Deflate({}, Z_FULL_FLUSH);
    return file_.Flush();
  }

  uint64_t Finish(bool sync) override {
    Deflate({}, Z_FINISH);
    return file_.Finish(sync);
  }

  std::optional<Sha256Digest> digest() const override { return file_.digest(); }
  ByteView tail() const override { return file_.tail(); }

 private:
  void Deflate(ByteView bytes, int flush) {
    stream_.next_in = const_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      file_.Write(ByteView(buffer_).first(buffer_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

  FileSink file_;
  z_stream stream_ = {};
  ByteBuffer buffer_;
};

}  // namespace

std::unique_ptr<ByteSink> MakeByteSink(std::unique_ptr<WritableFile> file,
                                       const WriterOptions& options) {
  FileSink sink(std::move(file), options);
  if (options.compression == Compression::kNone) return std::make_unique<FileSink>(std::move(sink));
  return std::make_unique<DeflateSink>(std::move(sink), options);
}

}  // namespace recpack
