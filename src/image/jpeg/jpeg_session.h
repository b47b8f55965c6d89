// libjpeg without its traps: errors become exceptions, warnings are counted, memory is freed.
//
// libjpeg reports errors by longjmp. Every call of it happens inside Run(), whose body must own
// nothing that needs a destructor; what outlives the body lives outside it.
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
  bool damaged = false;              // a warning told of lost or wrong pixels
  char damage[JMSG_LENGTH_MAX];      // the first such warning
  const char* own_reason = nullptr;  // an error of ours, not in libjpeg's table
};

// Puts our functions into `errors` and returns what belongs into a jpeg object's `err`.
jpeg_error_mgr* SetUpJpegErrors(JpegErrorManager& errors);

// Leaves the running body with `reason`, a text that lives for ever.
[[noreturn]] void FailJpeg(j_common_ptr info, const char* reason);

// Throws what the longjmp brought.
[[noreturn]] void ThrowJpegError(j_common_ptr info, uint64_t offset);

// A decompressor that can be used for one JPEG after another.
class JpegReader {
 public:
  JpegReader();
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Begins a file: gives up what was being read, forgets warnings. `bytes` must stay alive.
  void Open(ByteView bytes);

  template <typename Body>
  void Run(Body&& body) {
    if (setjmp(errors_.jump) != 0) ThrowError();
    body();
  }

  // jpeg_read_header, with a limit on the image's size (kUnsupported).
  void ReadHeader(uint64_t max_pixels);

  // Throws Error (kCorrupt) with the first warning that told of damage, if there was one.
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

// A compressor that writes into memory.
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

  // The file, after jpeg_finish_compress. `expected_bytes` sizes the buffer; it grows as needed.
  void Open(size_t expected_bytes);
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
