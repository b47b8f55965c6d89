#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "recpack/base/error.h"
#include "src/image/jpeg/jpeg_session.h"
// Names of libjpeg's messages; must follow jpeglib.h.
#include <jerror.h>

namespace recpack {
namespace {

JpegErrorManager& ErrorManager(j_common_ptr info) {
  return *static_cast<JpegErrorManager*>(info->err);
}

[[noreturn]] void LeaveBody(j_common_ptr info) { std::longjmp(ErrorManager(info).jump, 1); }

// Warnings about comments, profiles and bytes between the header's segments do not concern pixels.
bool TellsOfDamage(j_common_ptr info, int code) {
  if (code == JWRN_EXTRANEOUS_DATA && info->is_decompressor) {
    return reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > 0;
  }
  return code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM && code != JWRN_BOGUS_ICC;
}

void NoteMessage(j_common_ptr info, int level) {
  JpegErrorManager& errors = ErrorManager(info);
  if (level >= 0 || errors.damaged || !TellsOfDamage(info, errors.msg_code)) return;
  errors.damaged = true;
  errors.format_message(info, errors.damage);
}

void PrintNothing(j_common_ptr) {}

// Error codes for valid JPEGs of kinds that this library does not read or write.
bool IsUnsupported(int code) {
  constexpr int kCodes[] = {
      JERR_ARITH_NOTIMPL,        JERR_BAD_J_COLORSPACE,   JERR_BAD_PRECISION,
      JERR_CCIR601_NOTIMPL,      JERR_CONVERSION_NOTIMPL, JERR_EMPTY_IMAGE,
      JERR_FRACT_SAMPLE_NOTIMPL, JERR_IMAGE_TOO_BIG,      JERR_MISMATCHED_QUANT_TABLE,
      JERR_NOT_COMPILED,         JERR_SOF_UNSUPPORTED};
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

}  // namespace

jpeg_error_mgr* SetUpJpegErrors(JpegErrorManager& errors) {
  jpeg_std_error(&errors);
  errors.error_exit = LeaveBody;
  errors.emit_message = NoteMessage;
  errors.output_message = PrintNothing;
  return &errors;
}

void FailJpeg(j_common_ptr info, const char* reason) {
  ErrorManager(info).own_reason = reason;
  LeaveBody(info);
}

void ThrowJpegError(j_common_ptr info, uint64_t offset) {
  JpegErrorManager& errors = ErrorManager(info);
  if (errors.own_reason != nullptr) {
    throw Error(ErrorKind::kCorrupt, errors.own_reason, {.offset = offset});
  }
  if (errors.msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
  char text[JMSG_LENGTH_MAX];
  errors.format_message(info, text);
  throw Error(IsUnsupported(errors.msg_code) ? ErrorKind::kUnsupported : ErrorKind::kCorrupt,
              std::string("libjpeg: ") + text, {.offset = offset});
}

}  // namespace recpack
