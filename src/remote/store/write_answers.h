// Checks of a store's answers to requests that write objects, for SendWithRetries().
#pragma once

#include <string>

#include "src/remote/http/exchange.h"

namespace recpack::remote {

// Refuses 409, two requests for one key at a time: the store says to send the later one again.
std::string RefuseConflict(const Exchange& exchange);

// Refuses an error in an answer that began as a success, too: S3 may begin to answer before it
// knows whether it can complete an upload or a copy.
std::string RefuseLateError(const Exchange& exchange);

}  // namespace recpack::remote
