// Dot-separated lines with check digits, for texts that users keep: tokens and audits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack {

// Joins the parts, followed by the CRC32C of the preceding text.
std::string JoinDotted(const std::vector<std::string>& parts);

// Splits the text; the result excludes the check digits. `what` names the kind of text, such as
// "token". Throws Error: kUnsupported if the first part is not `format` but of the same family
// (equal up to trailing digits); kInvalidArgument if the number of parts or the check digits are
// wrong.
std::vector<std::string> SplitDotted(const std::string& text, const std::string& what,
                                     const std::string& format, size_t parts);

// Parses a part as a number. Throws Error (kInvalidArgument) if it is not one.
uint64_t DottedNumber(const std::string& part, const std::string& what);

}  // namespace recpack
