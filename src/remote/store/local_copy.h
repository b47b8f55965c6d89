// Local copies of small remote files, such as indexes, which are mapped.
#pragma once

#include <optional>
#include <string>

namespace recpack::remote {

// Returns the cache folder: RECPACK_CACHE, or recpack in XDG_CACHE_HOME or ~/.cache.
std::string CacheFolder();

// Returns the folder of the copies in it, each with a file NAME.version.
std::string CopiesFolder();

// Returns the path of a copy in the cache folder, fetched if there is none of this version. Local
// paths are returned as they are. Thread-safe, also between processes. Throws Error: kNotFound,
// kIo.
std::string LocalCopy(const std::string& path);

// The same; nullopt if the file does not exist.
std::optional<std::string> FindLocalCopy(const std::string& path);

// The same for a file that may be missing without harm: nullopt also where a store refuses access,
// as AWS does for missing objects to those who may not list a bucket, and for what is beside a
// presigned object.
std::optional<std::string> FindOptionalCopy(const std::string& path);

}  // namespace recpack::remote
