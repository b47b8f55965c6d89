// Lines of parts between dots, the last of which are check digits: what users keep for us.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack {

// The parts and, behind them, the CRC32C of what is in front of it.
std::string JoinDotted(const std::vector<std::string>& parts);

// The parts without the check digits. `what` is what the text should be: "token". Throws Error:
// kUnsupported where the first part is not `format`, but of its family (the same up to the digits
// at its end); kInvalidArgument for another number of parts or other check digits.
std::vector<std::string> SplitDotted(const std::string& text, const std::string& what,
                                     const std::string& format, size_t parts);

// A part that is a number; throws Error (kInvalidArgument).
uint64_t DottedNumber(const std::string& part, const std::string& what);

}  // namespace recpack
