#include "tools/cache_flag.h"

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"

namespace recpack::tool {

void AddCacheFlag(CLI::App& command, std::string& text) {
  command.add_option("--cache", text,
                     "records:SIZE or pictures:SIZE: keep up to SIZE (like 4GB) of read records or "
                     "decoded pictures in memory across epochs");
}

CacheOptions ParseCache(const std::string& text) {
  if (text.empty()) return {};
  const size_t colon = text.find(':');
  const std::string what = text.substr(0, colon);
  if (colon == std::string::npos || (what != "records" && what != "pictures")) {
    throw Error(ErrorKind::kInvalidArgument, format("unknown cache '{}'", text), {},
                "write it like records:4GB or pictures:500MB");
  }
  return {.what = what == "records" ? CacheKind::kRecords : CacheKind::kPictures,
          .budget_bytes = ParseBytes(text.substr(colon + 1))};
}

}  // namespace recpack::tool
