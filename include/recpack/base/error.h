// Errors of every recpack module.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace recpack {

enum class ErrorKind {
  kInvalidArgument,  // the caller asked for something that cannot be
  kNotFound,         // a file, split or feature is not there
  kCorrupt,          // bytes are not what their format says
  kIo,               // the operating system refused or failed
  kUnsupported,      // valid, but not something this library does
  kDevice,           // an accelerator failed
};

// The word for a kind in messages and JSON: "invalid argument", "not found", "corrupt", ...
const char* ErrorKindName(ErrorKind kind);

// Where it went wrong. Fields that are not known stay empty.
struct Place {
  std::string path = {};
  std::optional<uint64_t> offset = {};   // bytes from the start of the file
  std::optional<uint64_t> ordinal = {};  // records from the start of the file
};

// what() reads "PATH at byte OFFSET (record ORDINAL): REASON; ADVICE".
class Error : public std::exception {
 public:
  // `reason` says what happened, `advice` what the user can do about it (may be empty).
  // `error_number`: the operating system's word on it, an errno value; 0 where it has none.
  Error(ErrorKind kind, std::string reason, Place place = {}, std::string advice = {},
        int error_number = 0);

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& reason() const noexcept { return reason_; }
  const Place& place() const noexcept { return place_; }
  const std::string& advice() const noexcept { return advice_; }
  int error_number() const noexcept { return error_number_; }
  const char* what() const noexcept override { return what_.c_str(); }

  // The same, elsewhere.
  Error At(Place place) const;

 private:
  ErrorKind kind_;
  std::string reason_;
  Place place_;
  std::string advice_;
  std::string what_;
  int error_number_;
};

// An I/O error that carries the text of `error_number` (an errno value). ENOENT becomes kNotFound.
Error SystemError(const std::string& what_failed, const std::string& path, int error_number);

}  // namespace recpack
