// Recognises the kind of a source by file names and first bytes.
#pragma once

#include <string>

namespace recpack::pack {

// Returns the kind of source at `path`: "cifar" (10 or 100, as its files tell), "imagenet", "tar",
// "reviews", "list", "tfrecord" or "folder"; empty if it is unknown or does not exist. Throws Error
// if the path cannot be examined, for instance because of a cycle of symbolic links.
std::string RecogniseSource(const std::string& path);

}  // namespace recpack::pack
