// What could not be traced in this process, for the reader of its events.
#pragma once

#include <string>

namespace recpack::probe {

// Adds a line to PID-cupti.notice in the folder that RECPACK_EVENTS names. Any thread; what cannot
// be written is lost.
void Notice(const std::string& text) noexcept;

}  // namespace recpack::probe
