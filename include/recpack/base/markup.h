// Text within HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace recpack {

// `text` as the content of an element or the quoted value of an attribute. Control characters,
// which XML forbids, become blanks; tabs and ends of lines stay.
std::string EscapedMarkup(std::string_view text);

}  // namespace recpack
