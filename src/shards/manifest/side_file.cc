#include "src/shards/manifest/side_file.h"

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"

namespace recpack {

Sha256Digest ContentDigest(ByteView bytes) {
  Sha256 digest;
  digest.Update(bytes);
  return digest.Finish();
}

ByteBuffer ReadSideFile(const std::string& folder, const ManifestFile& file) {
  const std::string path = folder + "/" + file.file;
  ByteBuffer bytes = ReadWholeFile(remote::DataFiles(), path);
  if (bytes.size() != file.bytes) {
    throw Error(ErrorKind::kCorrupt,
                format("is {} bytes long, the manifest says {}", bytes.size(), file.bytes),
                {.path = path});
  }
  if (ContentDigest(bytes) != file.sha256) {
    throw Error(ErrorKind::kCorrupt, "the SHA-256 of the file differs from the manifest's",
                {.path = path});
  }
  return bytes;
}

}  // namespace recpack
