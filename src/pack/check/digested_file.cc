#include "src/pack/check/digested_file.h"

namespace recpack::pack {

void FileDigest::See(uint64_t offset, ByteView bytes) {
  if (offset > seen_ || offset + bytes.size() <= seen_) return;
  digest_.Update(bytes.subspan(seen_ - offset));
  seen_ = offset + bytes.size();
}

Sha256Digest FileDigest::Finish(const ReadableFile& file) {
  if (doubted_) {
    digest_.Finish();
    seen_ = 0;
  }
  ByteBuffer buffer(size_t{1} << 20);
  while (const size_t got = file.ReadAt(seen_, buffer)) See(seen_, ByteView(buffer).first(got));
  return digest_.Finish();
}

size_t DigestedFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  const size_t got = file_.ReadAt(offset, out);
  if (digest_ != nullptr) digest_->See(offset, out.first(got));
  return got;
}

size_t DigestedFile::ReadAgain(uint64_t offset, std::span<uint8_t> out) const {
  const size_t got = file_.ReadAgain(offset, out);
  if (got > 0 && digest_ != nullptr) digest_->Doubt();
  return got;
}

}  // namespace recpack::pack
