// Checks a loader's options and completes them.
#pragma once

#include "recpack/loader/loader.h"
#include "recpack/loader/token.h"

namespace recpack {

// Returns the position to begin at: the token to resume after, or the beginning of an epoch. Throws
// Error (kInvalidArgument) if the token belongs to other samples or another order.
ResumeToken StartToken(const Mixture& samples, const LoaderOptions& options);

// Returns the options with 0 and automatic choices replaced by their values. Throws Error
// (kInvalidArgument) for invalid options.
LoaderOptions ResolveOptions(const Mixture& samples, LoaderOptions options,
                             const ResumeToken& token);

}  // namespace recpack
