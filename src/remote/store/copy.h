// Copies of objects within a store.
#pragma once

#include <cstdint>
#include <string>

namespace recpack::remote {

// Gives an object of `bytes` bytes a second name in the same store, and replaces what has that
// name. The store copies it, without its bytes coming here; one of more than 1 GiB, and any object
// where the store knows no copies, is fetched and written again. Both: s3:// or gs:// URLs. Throws
// Error: kNotFound; kIo; kUnsupported on a web server.
void CopyObject(const std::string& from, const std::string& to, uint64_t bytes);

}  // namespace recpack::remote
