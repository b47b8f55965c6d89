// Listings of object stores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack::remote {

struct ListedObject {
  std::string url;
  uint64_t bytes = 0;

  // The part behind the last slash.
  std::string name() const { return url.substr(url.rfind('/') + 1); }
};

struct StoreFolder {
  std::vector<ListedObject> objects;
  std::vector<std::string> folders;  // names, without slashes
};

// Lists the "folder" `url`, an s3:// or gs:// URL without a last slash, in the order of the names:
// objects whose key has the prefix and a slash, and no further slash; and what comes before that
// further slash. Throws Error: kIo, kNotFound (no such bucket), kUnsupported for web servers, which
// have no listing.
StoreFolder ListStoreFolder(const std::string& url);

// Lists the objects alone.
std::vector<ListedObject> ListFolder(const std::string& url);

// Lists all objects in and below the "folder", in the order of their keys. Throws as
// ListStoreFolder().
std::vector<ListedObject> ListBelow(const std::string& url);

}  // namespace recpack::remote
