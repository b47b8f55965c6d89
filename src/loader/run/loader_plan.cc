#include "src/loader/run/loader_plan.h"

#include <algorithm>
#include <string>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/batch/ragged_rows.h"
#include "src/loader/run/loader_cache.h"

namespace recpack {
namespace {

constexpr uint32_t kMostChunkSamples = 64;
// Chunks of a batch, so that the last one's share is small.
constexpr uint32_t kChunksPerThread = 4;

uint32_t ChunkSamples(const LoaderOptions& options) {
  const uint32_t parts = static_cast<uint32_t>(options.threads) * kChunksPerThread;
  return std::clamp((options.batch_size + parts - 1) / parts, 1u, kMostChunkSamples);
}

std::vector<std::vector<Field>> FieldsOfViews(const LoaderOptions& options) {
  if (options.view_fields.empty()) return {options.fields};
  return options.view_fields;
}

std::string ArrayText(const std::vector<ArraySpec>& arrays, size_t number) {
  if (number >= arrays.size()) return "nothing";
  const ArraySpec& array = arrays[number];
  std::string shape;
  for (const uint32_t size : array.shape) shape += format("{}{}", shape.empty() ? "" : ", ", size);
  return format("'{}' of {} ({})", array.name, ElementName(array.type), shape);
}

}  // namespace

LoaderPlan::LoaderPlan(const Mixture& samples, const LoaderOptions& given, const ResumeToken& token)
    : mixture(samples),
      options(given),
      schedule(samples.samples(), options.batch_size,
               {options.world_size, options.rank, options.local_ranks}, options.share,
               options.last_batch, token.epoch, token.position, options.epochs),
      chunk_samples(ChunkSamples(options)),
      chunks((options.batch_size + chunk_samples - 1) / chunk_samples) {
  auto all = std::make_shared<std::vector<ArraySpec>>();
  const auto fields = FieldsOfViews(options);
  for (const auto& list : fields) writers.emplace_back(list);
  for (size_t view = 1; view < writers.size(); ++view) RefuseOtherArrays(view);
  for (const ArraySpec& array : writers.front().arrays()) Add(array, *all);
  for (const BatchStep& step : options.batch_steps) {
    batch_workers.push_back(MakeBatchWorker(step, *all));
    for (ArraySpec& array : batch_workers.back()->Arrays()) Add(std::move(array), *all);
  }
  arrays = std::move(all);
  cache = MakeSampleCache(options.cache, samples, fields);
}

// All samples of a batch fill the same arrays.
void LoaderPlan::RefuseOtherArrays(size_t view) const {
  const auto& first = writers.front().arrays();
  const auto& other = writers[view].arrays();
  for (size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i < first.size() && i < other.size() && first[i] == other[i]) continue;
    Refuse(format("the fields of view {} of the mixture give {} where those of view 0 give {}",
                  view, ArrayText(other, i), ArrayText(first, i)),
           "give all views fields of the same names, types and shapes, in the same order");
  }
}

void LoaderPlan::Add(ArraySpec array, std::vector<ArraySpec>& to) {
  const auto same = [&](const ArraySpec& other) { return other.name == array.name; };
  if (std::ranges::any_of(to, same)) {
    Refuse(format("two arrays are called '{}'", array.name), "give each field its own name");
  }
  sample_bytes += array.sample_bytes;
  array.offset = slab_bytes;
  thrown_bytes += AlignedArray(array.sample_bytes);
  slab_bytes += AlignedArray(RowBytes(array) * MostRows(array, options.batch_size));
  has_ragged |= array.rows == ArrayRows::kRagged;
  to.push_back(std::move(array));
}

}  // namespace recpack
