#include "src/loader/run/loader_cache.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/loader/fields/kept_pictures.h"

namespace recpack {
namespace {

// Few payloads are smaller than this part of their mean.
constexpr uint64_t kLeastOfMean = 4;

// Upper limit of the number of entries; each view counts its own records.
uint64_t MostRecords(const Mixture& samples) {
  uint64_t records = 0;
  for (const View& view : samples.views()) {
    records += view.drawn() ? view.dataset().records() : view.samples();
  }
  return records;
}

// Returns the number of pictures of a record that are kept, at most.
uint64_t KeptFields(const std::vector<std::vector<Field>>& fields) {
  const auto is_kept = [](const Field& field) {
    const auto* const image = std::get_if<ImageField>(&field);
    return image != nullptr && MayKeep(*image);
  };
  ptrdiff_t most = 0;
  for (const auto& list : fields) most = std::max(most, std::ranges::count_if(list, is_kept));
  return static_cast<uint64_t>(most);
}

class CachedSource final : public SampleSource {
 public:
  CachedSource(std::unique_ptr<SampleSource> source, uint32_t view, SampleCache& cache,
               CacheCounts& counts)
      : source_(std::move(source)), view_(view), cache_(cache), counts_(counts) {}

  std::unique_ptr<SampleSource> ForAnotherThread() const override {
    return source_->ForAnotherThread();
  }

  bool InMemory(std::span<const uint64_t> ids) override {
    const auto missing = Missing(ids);
    return missing.empty() || source_->InMemory(missing);
  }

  void WillOpen(std::span<const uint64_t> ids) override { source_->WillOpen(ids); }

  void Advise(std::span<const uint64_t> ids) override {
    const auto missing = Missing(ids);
    if (!missing.empty()) source_->Advise(missing);
  }

  void Touch(uint64_t id) noexcept override {
    if (!cache_.Find(MakeKey(id))) source_->Touch(id);
  }

  ByteView Read(uint64_t id, ByteBuffer& memory) override {
    const auto kept = cache_.Find(MakeKey(id));
    counts_.Count(kept.has_value());
    if (kept) return *kept;
    const ByteView payload = source_->Read(id, memory);
    cache_.Keep(MakeKey(id), payload);
    return payload;
  }

 private:
  CacheKey MakeKey(uint64_t id) const noexcept { return {.view = view_, .id = id}; }

  std::span<const uint64_t> Missing(std::span<const uint64_t> ids) {
    missing_.clear();
    for (const uint64_t id : ids) {
      if (!cache_.Find(MakeKey(id))) missing_.push_back(id);
    }
    return missing_;
  }

  std::unique_ptr<SampleSource> source_;
  const uint32_t view_;
  SampleCache& cache_;
  CacheCounts& counts_;
  std::vector<uint64_t> missing_;
};

}  // namespace

std::unique_ptr<SampleCache> MakeSampleCache(const CacheOptions& options, const Mixture& samples,
                                             const std::vector<std::vector<Field>>& fields) {
  if (options.what == CacheKind::kNone) {
    if (options.budget_bytes == 0) return nullptr;
    Refuse("the cache has a budget but nothing to keep", "choose records or pictures");
  }
  if (options.budget_bytes == 0) {
    Refuse("the cache has a budget of 0 bytes", "set a budget, or turn the cache off");
  }
  uint64_t entries = MostRecords(samples);
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

std::unique_ptr<SampleSource> MakeCachedSource(std::unique_ptr<SampleSource> source, uint32_t view,
                                               SampleCache& cache, CacheCounts& counts) {
  return std::make_unique<CachedSource>(std::move(source), view, cache, counts);
}

}  // namespace recpack
