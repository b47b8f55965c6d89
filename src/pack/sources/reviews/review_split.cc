#include "src/pack/sources/reviews/review_split.h"

#include "recpack/base/bytes.h"
#include "recpack/base/hash.h"

namespace recpack::pack {

size_t SplitOfReview(uint64_t seed, std::string_view user, std::string_view item) {
  uint8_t head[16];  // the user's length, since names may hold any bytes
  StoreLittleEndian(head, seed);
  StoreLittleEndian(head + 8, uint64_t{user.size()});
  Sha256 hash;
  hash.Update(head);
  hash.Update(AsBytes(user));
  hash.Update(AsBytes(item));
  const uint64_t tenth = LoadLittleEndian<uint64_t>(hash.Finish().data()) % 10;
  return tenth < 8 ? kTrainReviews : tenth - 7;
}

}  // namespace recpack::pack
