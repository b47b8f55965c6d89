#include "tools/recpack/data_flags.h"

namespace recpack::tool {

DatasetOptions DataFlags::options() const {
  return {.split = split, .fields = ParseFieldMap(fields), .label_offset = label_offset};
}

void AddFieldFlags(CLI::App& command, std::string& fields, int64_t& label_offset) {
  command.add_option("--field", fields, "TARGET=NAME,...: read features of DATA under other names");
  command.add_option("--label-offset", label_offset,
                     "Number of the first class of DATA (1: labels are 1 to N)");
}

void AddDataFlags(CLI::App& command, DataFlags& flags) {
  command
      .add_option("DATA", flags.paths,
                  "Folders of shards, shards, patterns or URLs, which are read as one data set; or "
                  "class folders, tar archives, a list")
      ->required();
  AddFieldFlags(command, flags.fields, flags.label_offset);
}

}  // namespace recpack::tool
