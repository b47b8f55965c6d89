// Rebuilds records with other features.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recpack/example/view.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/item/source.h"
#include "src/pack/sources/tfrecord/tfrecord.h"

namespace recpack::pack {

// Tells whether the options change the records.
bool ChangesRecords(const TfrecordOptions& options);

// Returns the label feature if none is mapped: image/class/label, else label; null if neither has
// numbers.
const FeatureView* FindLabel(const ExampleView& example);

// One per reader; not thread-safe.
class RecordRebuilder {
 public:
  // The arguments are not owned and must outlive it.
  RecordRebuilder(const TfrecordOptions& options, ImageCounters& counters);

  // Fills features and label of `sample`, which hold views of the parsed record and this object.
  // Errors carry `name`. Throws Error: kNotFound if a mapped feature is missing, kCorrupt,
  // kUnsupported.
  void Rebuild(const ExampleView& example, const std::string& name, Sample& sample);

 private:
  void Map(const ExampleView& example, const std::string& name, Sample& sample);
  void CopyAll(const ExampleView& example, const std::string& name, Sample& sample);
  void AddImage(const FeatureView& feature, const std::string& name, Sample& sample);
  void AddLabel(std::string_view target, const FeatureView& feature, const std::string& name,
                Sample& sample);

  const TfrecordOptions& options_;
  ImageFields images_;
  bool images_change_;
  std::vector<std::vector<std::string>> sources_;  // for each rule of the field map
  std::vector<int64_t> labels_;
};

}  // namespace recpack::pack
