// Conversion of libpng's errors to exceptions, with the same rules as jpeg_session.h.
#pragma once

#include <png.h>

#include <csetjmp>

#include "recpack/base/error.h"

namespace recpack {

struct PngMessages {
  jmp_buf jump;
  char error[128] = "";   // error that ended the body
  char damage[128] = "";  // first warning about pixel data, if any
};

// Handlers for png_create_*_struct(), with a PngMessages as the error pointer.
[[noreturn]] void OnPngError(png_structp png, png_const_charp text);
void OnPngWarning(png_structp png, png_const_charp text);

template <typename Body>
void RunPng(PngMessages& messages, ErrorKind kind, Body&& body) {
  if (setjmp(messages.jump) != 0) {
    throw Error(kind, std::string("libpng: ") + messages.error);
  }
  body();
}

}  // namespace recpack
