#include "recpack/base/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/format.h"

namespace recpack {
namespace {

std::string Compose(const std::string& reason, const Place& place, const std::string& advice) {
  std::string text = place.path;
  if (place.offset) text += format("{}at byte {}", text.empty() ? "" : " ", *place.offset);
  if (place.ordinal) text += format("{}(record {})", text.empty() ? "" : " ", *place.ordinal);
  if (!text.empty()) text += ": ";
  text += reason;
  if (!advice.empty()) text += "; " + advice;
  return text;
}

}  // namespace

const char* ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "invalid argument";
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kIo:
      return "I/O";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kDevice:
      return "device";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string reason, Place place, std::string advice, int error_number)
    : kind_(kind),
      reason_(std::move(reason)),
      place_(std::move(place)),
      advice_(std::move(advice)),
      what_(Compose(reason_, place_, advice_)),
      error_number_(error_number) {}

Error Error::At(Place place) const {
  return Error(kind_, reason_, std::move(place), advice_, error_number_);
}

void Refuse(const std::string& reason, const std::string& advice) {
  throw Error(ErrorKind::kInvalidArgument, reason, {}, advice);
}

Error SystemError(const std::string& what_failed, const std::string& path, int error_number) {
  const ErrorKind kind = error_number == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  std::string advice;
  if (error_number == ENOSPC) advice = "free some space and run the same command again";
  if (error_number == EACCES || error_number == EPERM) advice = "check the permissions";
  if (error_number == EMFILE || error_number == ENFILE) {
    advice = "raise the limit of open files (ulimit -n)";
  }
  return Error(kind, format("{}: {}", what_failed, std::strerror(error_number)), {.path = path},
               advice, error_number);
}

}  // namespace recpack
