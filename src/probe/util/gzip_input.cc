#include "src/probe/util/gzip_input.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

constexpr size_t kBuffer = size_t{1} << 17;

}  // namespace

struct GzipInput::File {
  explicit File(gzFile opened) : stream(opened) {}
  ~File() { gzclose(stream); }
  File(const File&) = delete;

  const gzFile stream;
};

GzipInput::GzipInput(std::string path) : path_(std::move(path)), buffer_(kBuffer) {
  const auto opened = PosixFiles().OpenForReading(path_);  // refuses pipes and devices
  const int descriptor = ::fcntl(opened->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw SystemError("cannot open", path_, errno);
  gzFile stream = gzdopen(descriptor, "rb");
  if (stream == nullptr) {
    ::close(descriptor);
    throw Error(ErrorKind::kIo, "out of memory", {.path = path_});
  }
  file_ = std::make_unique<File>(stream);
  gzbuffer(stream, kBuffer);
}

GzipInput::~GzipInput() = default;

GzipInput::int_type GzipInput::underflow() {
  const int read = gzread(file_->stream, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* text = gzerror(file_->stream, &code);
  if (read < 0 || code == Z_BUF_ERROR) {  // Z_BUF_ERROR: the file ends before the gzip stream does
    if (code == Z_ERRNO) throw SystemError("cannot read", path_, errno);
    throw Error(ErrorKind::kCorrupt,
                format("cannot be decompressed past byte {} of its text: {}", bytes_,
                       code == Z_BUF_ERROR ? "it ends too early" : text),
                {.path = path_}, "write it again");
  }
  if (read <= 0) {
    ended_ = true;
    return traits_type::eof();
  }
  bytes_ += static_cast<uint64_t>(read);
  setg(buffer_.data(), buffer_.data(), buffer_.data() + read);
  return traits_type::to_int_type(*gptr());
}

}  // namespace recpack::probe
