#include "src/image/jpeg/jpeg_session.h"

#include <algorithm>
#include <new>
#include <string>

#include "recpack/base/error.h"
#include "src/image/checks.h"
// After jpeglib.h: names of libjpeg's messages.
#include <jerror.h>

namespace recpack {
namespace {

// Limit on scans: a small progressive file can require any number of passes over a large image.
constexpr int kMaxScans = 500;

void LimitScans(j_common_ptr info) {
  const auto* reader = reinterpret_cast<j_decompress_ptr>(info);
  if (reader->input_scan_number > kMaxScans) {
    FailJpeg(info, "the JPEG has more than 500 scans");
  }
}

}  // namespace

JpegReader::JpegReader() : info_{}, errors_{}, progress_{} {
  info_.err = SetUpJpegErrors(errors_);
  progress_.progress_monitor = LimitScans;
}

JpegReader::~JpegReader() { jpeg_destroy_decompress(&info_); }

void JpegReader::Open(ByteView bytes) {
  bytes_ = bytes;
  errors_.damaged = false;
  errors_.own_reason = nullptr;
  // Recreate the object: a reused one keeps its tables, and a file without tables would be decoded
  // with those of the previous file.
  Run([&] {
    jpeg_destroy_decompress(&info_);
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
    jpeg_mem_src(&info_, bytes_.data(), bytes_.size());
  });
}

void JpegReader::ReadHeader(uint64_t max_pixels) {
  Run([&] { jpeg_read_header(&info_, TRUE); });
  CheckPixels(info_.image_width, info_.image_height, max_pixels);
}

void JpegReader::ThrowIfDamaged() const {
  if (!errors_.damaged) return;
  throw Error(ErrorKind::kCorrupt, std::string("libjpeg: ") + errors_.damage, {.offset = Offset()});
}

// Returns the offset that libjpeg was reading at. At a truncated end it reads from its own buffer.
uint64_t JpegReader::Offset() const noexcept {
  if (info_.src == nullptr) return 0;
  const JOCTET* at = info_.src->next_input_byte;
  const bool inside = at >= bytes_.data() && at <= bytes_.data() + bytes_.size();
  return inside ? static_cast<uint64_t>(at - bytes_.data()) : bytes_.size();
}

void JpegReader::ThrowError() { ThrowJpegError(reinterpret_cast<j_common_ptr>(&info_), Offset()); }

JpegWriter::JpegWriter() : info_{}, errors_{} {
  info_.err = SetUpJpegErrors(errors_);
  Run([&] { jpeg_create_compress(&info_); });
  destination_.init_destination = StartFile;
  destination_.empty_output_buffer = GrowFile;
  destination_.term_destination = EndFile;
  info_.dest = &destination_;
}

JpegWriter::~JpegWriter() { jpeg_destroy_compress(&info_); }

void JpegWriter::Open(size_t expected_bytes) {
  constexpr size_t kLeastBytes = 4096;
  destination_.file.resize(std::max(expected_bytes, kLeastBytes));
}

ByteBuffer JpegWriter::TakeFile() { return std::move(destination_.file); }

void JpegWriter::ThrowError() { ThrowJpegError(reinterpret_cast<j_common_ptr>(&info_), 0); }

void JpegWriter::StartFile(j_compress_ptr info) {
  auto& to = *static_cast<Destination*>(info->dest);
  to.next_output_byte = to.file.data();
  to.free_in_buffer = to.file.size();
}

// libjpeg calls this when the buffer is full; free_in_buffer may be wrong.
boolean JpegWriter::GrowFile(j_compress_ptr info) {
  auto& to = *static_cast<Destination*>(info->dest);
  const size_t used = to.file.size();
  bool grown = true;
  try {
    to.file.resize(used * 2);
  } catch (const std::bad_alloc&) {
    grown = false;
  }
  if (!grown) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  to.next_output_byte = to.file.data() + used;
  to.free_in_buffer = to.file.size() - used;
  return TRUE;
}

void JpegWriter::EndFile(j_compress_ptr info) {
  auto& to = *static_cast<Destination*>(info->dest);
  to.file.resize(to.file.size() - to.free_in_buffer);
}

}  // namespace recpack
