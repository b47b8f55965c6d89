#include "recpack/base/error.h"
#include "recpack/record/index.h"
#include "src/base/format.h"

namespace recpack {

void RefuseOtherSize(const std::string& path, uint64_t bytes, uint64_t indexed) {
  if (bytes == indexed) return;
  throw Error(ErrorKind::kCorrupt, format("has {} bytes, but {} by its index", bytes, indexed),
              {.path = path},
              bytes < indexed ? "copy the file again, it was cut off; if it was written anew, make "
                                "the index anew with `recpack index`"
                              : "copy the file again; if it was written anew, make the index anew "
                                "with `recpack index`");
}

}  // namespace recpack
