// Elements of the XML that object stores answer with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace recpack::remote {

// Returns the contents of all elements `name` without attributes, in order, not of those nested in
// one of the same name. What is not well-formed ends the list.
std::vector<std::string_view> Elements(std::string_view xml, std::string_view name);

// Returns the text of the first element `name`, with entities replaced; empty if there is none.
std::string FirstElement(std::string_view xml, std::string_view name);

}  // namespace recpack::remote
