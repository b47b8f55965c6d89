#include "src/pack/parts/parts.h"

#include <utility>

#include "src/pack/parts/folder_parts.h"
#include "src/pack/parts/store_parts.h"
#include "src/remote/url/url.h"

namespace recpack::pack {

std::unique_ptr<Parts> OpenParts(const std::string& out, std::string split, std::string job,
                                 bool overwrite) {
  if (out.find("://") != std::string::npos) {
    return std::make_unique<StoreParts>(out, std::move(split), std::move(job), overwrite);
  }
  return std::make_unique<FolderParts>(out, std::move(split), std::move(job), overwrite);
}

}  // namespace recpack::pack
