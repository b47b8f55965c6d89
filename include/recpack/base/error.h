// Exception type of all modules.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace recpack {

enum class ErrorKind {
  kInvalidArgument,  // an argument or option is invalid
  kNotFound,         // a file, split or feature does not exist
  kCorrupt,          // data violates its format
  kIo,               // the operating system reported an error
  kUnsupported,      // valid input that this library does not support
  kDevice,           // an accelerator failed
};

// Returns the name of a kind in messages and JSON: "invalid argument", "not found", "corrupt", ...
const char* ErrorKindName(ErrorKind kind);

// Location of an error. Unknown fields stay empty.
struct Place {
  std::string path = {};
  std::optional<uint64_t> offset = {};   // bytes from the start of the file
  std::optional<uint64_t> ordinal = {};  // records from the start of the file
};

// what() has the form "PATH at byte OFFSET (record ORDINAL): REASON; ADVICE".
class Error : public std::exception {
 public:
  // `reason`: what happened. `advice`: what the user can do about it; may be empty. `error_number`:
  // errno value reported by the operating system; 0 if none.
  Error(ErrorKind kind, std::string reason, Place place = {}, std::string advice = {},
        int error_number = 0);

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& reason() const noexcept { return reason_; }
  const Place& place() const noexcept { return place_; }
  const std::string& advice() const noexcept { return advice_; }
  int error_number() const noexcept { return error_number_; }
  const char* what() const noexcept override { return what_.c_str(); }

  // Returns a copy of this error with another place.
  Error At(Place place) const;

 private:
  ErrorKind kind_;
  std::string reason_;
  Place place_;
  std::string advice_;
  std::string what_;
  int error_number_;
};

// Throws Error (kInvalidArgument).
[[noreturn]] void Refuse(const std::string& reason, const std::string& advice);

// Makes an I/O error with the text of `error_number` (an errno value). ENOENT becomes kNotFound.
Error SystemError(const std::string& what_failed, const std::string& path, int error_number);

}  // namespace recpack
