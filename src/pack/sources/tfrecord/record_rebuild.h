// Makes records anew, with other features.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recpack/example/view.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/item/source.h"
#include "src/pack/sources/tfrecord/tfrecord.h"

namespace recpack::pack {

// Whether the options ask for records that differ from those read.
bool ChangesRecords(const TfrecordOptions& options);

// The feature that holds the label, where nothing is mapped: image/class/label, else label; null if
// there is none with numbers.
const FeatureView* FindLabel(const ExampleView& example);

// One a reader; one thread at a time.
class RecordRebuilder {
 public:
  // Both are not owned and must outlive it.
  RecordRebuilder(const TfrecordOptions& options, ImageCounters& counters);

  // Fills features and label of `sample`, which view the parsed record and this object. `name` is
  // the record's in errors. Throws Error: kNotFound where a mapped feature is missing, kCorrupt,
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
  std::vector<std::vector<std::string>> sources_;  // of each rule of the field map
  std::vector<int64_t> labels_;
};

}  // namespace recpack::pack
