#include "src/loader/run/cached_source.h"

#include <utility>
#include <vector>

namespace recpack {
namespace {

class Cached final : public SampleSource {
 public:
  Cached(std::unique_ptr<SampleSource> source, uint32_t view, SampleCache& cache,
         CacheCounts& counts)
      : source_(std::move(source)), view_(view), cache_(cache), counts_(counts) {}

  std::unique_ptr<SampleSource> ForAnotherThread() const override {
    return source_->ForAnotherThread();
  }

  bool InMemory(std::span<const uint64_t> ids) override {
    const auto missing = Missing(ids);
    return missing.empty() || source_->InMemory(missing);
  }

  void Advise(std::span<const uint64_t> ids) override {
    const auto missing = Missing(ids);
    if (!missing.empty()) source_->Advise(missing);
  }

  void Touch(uint64_t id) noexcept override {
    if (!cache_.Find(KeyOf(id))) source_->Touch(id);
  }

  ByteView Read(uint64_t id, ByteBuffer& memory) override {
    const auto kept = cache_.Find(KeyOf(id));
    counts_.Count(kept.has_value());
    if (kept) return *kept;
    const ByteView payload = source_->Read(id, memory);
    cache_.Keep(KeyOf(id), payload);
    return payload;
  }

 private:
  CacheKey KeyOf(uint64_t id) const noexcept { return {.view = view_, .id = id}; }

  std::span<const uint64_t> Missing(std::span<const uint64_t> ids) {
    missing_.clear();
    for (const uint64_t id : ids) {
      if (!cache_.Find(KeyOf(id))) missing_.push_back(id);
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

std::unique_ptr<SampleSource> CachedSource(std::unique_ptr<SampleSource> source, uint32_t view,
                                           SampleCache& cache, CacheCounts& counts) {
  return std::make_unique<Cached>(std::move(source), view, cache, counts);
}

}  // namespace recpack
