// ErrorOf(): returns the Error that a call throws.
#pragma once

#include <stdexcept>

#include "recpack/base/error.h"

namespace recpack {

// Throws std::logic_error if the call does not throw.
template <typename Call>
Error ErrorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error came");
}

}  // namespace recpack
