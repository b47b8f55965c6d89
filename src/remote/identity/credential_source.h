// A source of credentials for a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "src/remote/sign/credentials.h"

namespace recpack::remote {

struct CredentialSource {
  std::string name;  // for messages: "the instance's role"
  // Returns credentials that are valid now; nullopt: there are none after all. Waits for the
  // network. Throws Error (kIo) if the source is set up and gives none. Empty: there is no source.
  std::function<std::optional<Credentials>()> fetch;
};

}  // namespace recpack::remote
