// Wrappers of libjpeg objects: errors become exceptions, warnings are recorded, memory is freed.
//
// libjpeg reports errors by longjmp. Call it only inside Run(); the body must not own objects with
// destructors.
#pragma once

#include <csetjmp>
// jpeglib.h needs FILE but does not include it.
#include <cstdio>
// clang-format off
#include <jpeglib.h>
// clang-format on

#include "recpack/base/bytes.h"

namespace recpack {

struct JpegErrorManager : jpeg_error_mgr {
  jmp_buf jump;
  bool damaged = false;              // a warning reported lost or wrong pixels
  char damage[JMSG_LENGTH_MAX];      // first such warning
  const char* own_reason = nullptr;  // error of FailJpeg(), not in libjpeg's table
};

// Installs the handlers in `errors` and returns the value for a jpeg object's `err`.
jpeg_error_mgr* SetUpJpegErrors(JpegErrorManager& errors);

// Leaves the running body with `reason`, which must have static lifetime.
[[noreturn]] void FailJpeg(j_common_ptr info, const char* reason);

// Throws the error reported by the longjmp.
[[noreturn]] void ThrowJpegError(j_common_ptr info, uint64_t offset);

// Reusable decompressor.
class JpegReader {
 public:
  JpegReader();
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Starts a file: aborts the previous one and clears warnings. `bytes` must stay alive.
  void Open(ByteView bytes);

  template <typename Body>
  void Run(Body&& body) {
    if (setjmp(errors_.jump) != 0) ThrowError();
    body();
  }

  // Calls jpeg_read_header(). Throws Error (kUnsupported) if the image is larger than `max_pixels`.
  void ReadHeader(uint64_t max_pixels);

  // Throws Error (kCorrupt) with the first warning about damage, if there was one.
  void ThrowIfDamaged() const;

  bool is_damaged() const noexcept { return errors_.damaged; }

  jpeg_decompress_struct& info() noexcept { return info_; }

 private:
  [[noreturn]] void ThrowError();
  uint64_t Offset() const noexcept;

  jpeg_decompress_struct info_;
  JpegErrorManager errors_;
  jpeg_progress_mgr progress_;
  ByteView bytes_;
};

// Compressor that writes to memory.
class JpegWriter {
 public:
  JpegWriter();
  ~JpegWriter();
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  template <typename Body>
  void Run(Body&& body) {
    if (setjmp(errors_.jump) != 0) ThrowError();
    body();
  }

  // `expected_bytes` is the initial size of the buffer, which grows as needed.
  void Open(size_t expected_bytes);
  // Returns the file. Call it after jpeg_finish_compress().
  ByteBuffer TakeFile();

  jpeg_compress_struct& info() noexcept { return info_; }

 private:
  struct Destination : jpeg_destination_mgr {
    ByteBuffer file;
  };

  [[noreturn]] void ThrowError();
  static void StartFile(j_compress_ptr info);
  static boolean GrowFile(j_compress_ptr info);
  static void EndFile(j_compress_ptr info);

  jpeg_compress_struct info_;
  JpegErrorManager errors_;
  Destination destination_;
};

}  // namespace recpack
