// What a path is, by names and first bytes.
#pragma once

#include <string>

namespace recpack::pack {

// The kind of source that `path` is: "cifar" (which of both, its files tell), "imagenet", "tar",
// "reviews", "list", "tfrecord" or "folder"; empty: none that is known, or nothing is there. Throws
// Error where the path cannot be looked at, as links that go round in circles.
std::string RecogniseSource(const std::string& path);

}  // namespace recpack::pack
