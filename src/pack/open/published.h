// Data sets that are downloaded when their name is given instead of a path.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace recpack::pack {

using DownloadProgress = std::function<void(uint64_t bytes, uint64_t total)>;

// Returns the path of the data set's archive if `name` is cifar10 or cifar100 and there is no such
// file or folder; otherwise `name`. The archive is downloaded to the folder `downloads` of the
// cache folder, once. RECPACK_MIRROR: URL of a folder to download from instead of the publisher's.
// Throws like DownloadFile().
std::string FindPublished(const std::string& name, const DownloadProgress& progress = {});

}  // namespace recpack::pack
