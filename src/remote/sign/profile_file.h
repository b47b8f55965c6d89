// Shared configuration files of AWS: profiles of settings.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace recpack::remote {

using Profile = std::map<std::string, std::string>;  // settings by name

// Returns the settings of a profile in the text of ~/.aws/credentials or ~/.aws/config, whose
// sections are called "[name]" or "[profile name]"; empty if it is not there. Nested settings,
// which are indented, are left out.
Profile FindProfile(std::string_view text, const std::string& name);

}  // namespace recpack::remote
