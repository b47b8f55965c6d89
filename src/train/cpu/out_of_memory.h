// How a processor says that its memory ended.
#pragma once

#include <exception>

namespace recpack::train {

// Whether it is that, as the standard library or oneDNN throw it.
bool IsOutOfMemory(const std::exception& error) noexcept;

}  // namespace recpack::train
