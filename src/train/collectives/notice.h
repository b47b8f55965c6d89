// Message that a rank sends when it ends: success or its error.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "recpack/base/error.h"

namespace recpack::train {

// Fixed size, so that one read suffices; longer text is truncated.
struct Notice {
  uint32_t failed = 0;  // 0: the rank has finished successfully
  uint32_t kind = 0;    // an ErrorKind
  char text[1016] = "";
};

inline Notice ToNotice(const std::optional<Error>& failure) {
  Notice notice;
  if (!failure) return notice;
  notice.failed = 1;
  notice.kind = static_cast<uint32_t>(failure->kind());
  const std::string text = failure->what();
  std::copy_n(text.data(), std::min(text.size(), sizeof notice.text - 1), notice.text);
  return notice;
}

inline std::optional<Error> ToFailure(const Notice& notice) {
  if (notice.failed == 0) return std::nullopt;
  const auto kind = std::min(notice.kind, static_cast<uint32_t>(ErrorKind::kDevice));
  const std::string text(notice.text, std::find(notice.text, std::end(notice.text), '\0'));
  return Error(static_cast<ErrorKind>(kind), text);
}

}  // namespace recpack::train
