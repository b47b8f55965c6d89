#include "src/loader/run/make_cache.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/loader/fields/kept_pictures.h"

namespace recpack {
namespace {

// Payloads that are smaller than this part of their mean are few.
constexpr uint64_t kLeastOfMean = 4;

[[noreturn]] void Refuse(const char* reason, const char* advice) {
  throw Error(ErrorKind::kInvalidArgument, reason, {}, advice);
}

// That may come, as each view counts its own.
uint64_t RecordsOf(const Mixture& samples) {
  uint64_t records = 0;
  for (const View& view : samples.views()) {
    records += view.balanced() ? view.dataset().records() : view.samples();
  }
  return records;
}

uint64_t KeptFields(const std::vector<Field>& fields) {
  const auto is_kept = [](const Field& field) {
    const auto* const image = std::get_if<ImageField>(&field);
    return image != nullptr && MayKeep(*image);
  };
  return static_cast<uint64_t>(std::count_if(fields.begin(), fields.end(), is_kept));
}

}  // namespace

std::unique_ptr<SampleCache> MakeSampleCache(const CacheOptions& options, const Mixture& samples,
                                             const std::vector<Field>& fields) {
  if (options.what == CacheKind::kNone) {
    if (options.budget_bytes == 0) return nullptr;
    Refuse("a cache has a budget and nothing to keep", "choose records or pictures");
  }
  if (options.budget_bytes == 0) {
    Refuse("a cache has a budget of 0 bytes", "give it some, or keep nothing");
  }
  uint64_t entries = RecordsOf(samples);
  if (options.what == CacheKind::kPictures) {
    const uint64_t pictures = KeptFields(fields);
    if (pictures == 0) {
      Refuse(
          "no field has pictures that can be kept: raw ones and those decoded scaled or by planes "
          "are not",
          "keep records");
    }
    entries *= pictures;
  }
  const uint64_t mean = samples.bytes() / std::max<uint64_t>(samples.records(), 1);
  return std::make_unique<SampleCache>(options.budget_bytes, entries, mean / kLeastOfMean);
}

}  // namespace recpack
