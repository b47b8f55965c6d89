#include "python/convert/pack_options.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/convert/given_path.h"
#include "python/convert/options.h"

namespace recpack::python {
namespace nb = nanobind;

WriterOptions TakeWriterOptions(nb::dict& given) {
  WriterOptions options;
  options.compression = ParseCompression(Take<std::string>(given, "compression"));
  options.level = Take<int>(given, "level");
  options.digest = true;
  return options;
}

pack::SourceFlags TakeSourceFlags(nb::dict& given) {
  pack::SourceFlags flags;
  flags.path = Take<std::string>(given, "path");
  flags.from = Take<std::string>(given, "kind");
  flags.splits = Take<std::string>(given, "splits");
  flags.split = Take<std::string>(given, "split");
  flags.layout = Take<std::string>(given, "layout");
  flags.fields = Take<std::string>(given, "fields");
  flags.columns = Take<std::string>(given, "columns");
  flags.filters = Take<std::vector<std::string>>(given, "filters");
  flags.label_offset = Take<int64_t>(given, "label_offset");
  flags.devkit = Take<std::string>(given, "devkit");
  flags.labels = Take<std::string>(given, "labels");
  flags.check_images = Take<bool>(given, "check_images");
  flags.resize = Take<int>(given, "resize");
  flags.quality = Take<int>(given, "quality");
  flags.jpeg = Take<std::string>(given, "jpeg");
  flags.max_tokens = Take<std::optional<uint64_t>>(given, "max_tokens");
  flags.vocabulary = Take<std::optional<uint64_t>>(given, "vocabulary");
  flags.vocabulary_file = Take<std::string>(given, "vocabulary_file");
  flags.seed = Take<std::optional<uint64_t>>(given, "seed");
  flags.work_folder = Take<std::string>(given, "work_folder");
  return flags;
}

pack::PackOptions TakePackOptions(nb::dict& given) {
  pack::PackOptions options;
  options.out = Absolute(Take<std::string>(given, "out"));
  options.plan.shard_bytes = Take<uint64_t>(given, "shard_bytes");
  options.plan.shards = Take<uint64_t>(given, "shards");
  options.plan.limit = Take<uint64_t>(given, "limit");
  options.writer = TakeWriterOptions(given);
  options.created_by = kCreatedBy;
  options.sync = Take<bool>(given, "sync");
  options.threads = Take<int>(given, "threads");
  options.max_skip = Take<double>(given, "max_skip");
  options.skip_bad_items = options.max_skip > 0;
  options.overwrite = Take<bool>(given, "overwrite");
  options.append = Take<bool>(given, "append");
  options.task = Take<uint32_t>(given, "task");
  options.tasks = Take<uint32_t>(given, "tasks");
  options.dali_index = Take<bool>(given, "dali_index");
  return options;
}

}  // namespace recpack::python
