// Chooses the backend of random reads.
#include "src/record/random/fetcher.h"

namespace recpack {

using Backend = RandomAccessOptions::Backend;

std::unique_ptr<Fetcher> MakeFetcher(Backend& backend, const RandomAccessOptions& options) {
  if (backend == Backend::kMapped) return MakeMappedFetcher(!options.verify);
  if (backend == Backend::kIoUring) {
    if (auto fetcher = MakeIoUringFetcher()) return fetcher;
  }
  backend = Backend::kPread;
  return MakePreadFetcher(options.threads);
}

const char* BackendName(RandomAccessOptions::Backend backend) {
  switch (backend) {
    case Backend::kAutomatic:
      return "automatic";
    case Backend::kPread:
      return "pread";
    case Backend::kIoUring:
      return "io_uring";
    case Backend::kMapped:
      return "mapped";
  }
  return "unknown";
}

}  // namespace recpack
