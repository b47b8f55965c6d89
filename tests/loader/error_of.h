// The error that a call throws.
#pragma once

#include <stdexcept>

#include "recpack/base/error.h"

namespace recpack {

// Throws std::logic_error where none came.
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
