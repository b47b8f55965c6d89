#include "src/image/png/png_session.h"

#include <cstring>
#include <string_view>

namespace recpack {
namespace {

template <size_t kSize>
void CopyText(char (&to)[kSize], const char* from) {
  std::strncpy(to, from, kSize - 1);
  to[kSize - 1] = '\0';
}

PngMessages& Messages(png_structp png) {
  return *static_cast<PngMessages*>(png_get_error_ptr(png));
}

}  // namespace

void OnPngError(png_structp png, png_const_charp text) {
  PngMessages& messages = Messages(png);
  CopyText(messages.error, text);
  std::longjmp(messages.jump, 1);
}

void OnPngWarning(png_structp png, png_const_charp text) {
  PngMessages& messages = Messages(png);
  if (messages.damage[0] == '\0' && std::string_view(text).starts_with("IDAT")) {
    CopyText(messages.damage, text);
  }
}

}  // namespace recpack
