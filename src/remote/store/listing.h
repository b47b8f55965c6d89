// Listings of object stores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack::remote {

struct ListedObject {
  std::string url;
  uint64_t bytes = 0;
};

// Lists the objects directly in the "folder" `url`, an s3:// or gs:// URL without a last slash, in
// the order of their names: those whose key has the prefix and a slash, and no further slash.
// Throws Error: kIo, kNotFound (no such bucket), kUnsupported for web servers, which have no
// listing.
std::vector<ListedObject> ListFolder(const std::string& url);

}  // namespace recpack::remote
