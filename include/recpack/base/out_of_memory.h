// Memory that is not to be had.
#pragma once

#include <string>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

// Of the host or of a device (kDevice); it says where, and how many bytes were asked for.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(std::string reason, std::string advice = {})
      : Error(ErrorKind::kDevice, std::move(reason), {}, std::move(advice)) {}
};

}  // namespace recpack
