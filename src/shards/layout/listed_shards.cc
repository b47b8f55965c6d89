#include "src/shards/layout/listed_shards.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

void RefuseUnlisted(const std::string& path, const ListedShard& found, const ListedShard& listed) {
  if (found == listed) return;
  const std::string reason =
      found.bytes != listed.bytes
          ? format("has {} bytes, but {} by its manifest", found.bytes, listed.bytes)
          : format("holds {} records, but {} by its manifest", found.records, listed.records);
  throw Error(ErrorKind::kCorrupt, reason, {.path = path},
              "copy the shard again; where there is no other copy, recpack repair saves its whole "
              "records into another folder");
}

}  // namespace recpack
