#include "src/pack/sources/tfrecord/record_rebuild.h"

#include "recpack/base/error.h"
#include "recpack/image/header.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"

namespace recpack::pack {
namespace {

constexpr std::string_view kPlainLabel = "label";

// Tells whether AddImage() writes the feature.
bool IsOfImage(std::string_view name) {
  return name == kImageEncoded || name == kImageFormat || name == kImageHeight ||
         name == kImageWidth;
}

const FeatureView* FindAny(const ExampleView& example, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const FeatureView* feature = example.Find(name)) return feature;
  }
  return nullptr;
}

}  // namespace

bool ChangesRecords(const TfrecordOptions& options) {
  return !options.fields.empty() || options.label_offset != 0 || options.image.reads_pixels();
}

const FeatureView* FindLabel(const ExampleView& example) {
  for (const std::string_view name : {kImageClassLabel, kPlainLabel}) {
    const FeatureView* feature = example.Find(name);
    if (feature != nullptr && feature->kind() == FeatureKind::kInt64) return feature;
  }
  return nullptr;
}

RecordRebuilder::RecordRebuilder(const TfrecordOptions& options, ImageCounters& counters)
    : options_(options),
      images_(options.image, counters),
      images_change_(options.image.reads_pixels()) {
  for (const FieldRule& rule : options.fields) sources_.push_back(RuleFields(rule));
}

void RecordRebuilder::Rebuild(const ExampleView& example, const std::string& name, Sample& sample) {
  options_.fields.empty() ? CopyAll(example, name, sample) : Map(example, name, sample);
}

void RecordRebuilder::Map(const ExampleView& example, const std::string& name, Sample& sample) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    const std::string& target = options_.fields[i].target;
    const FeatureView* feature = FindAny(example, sources_[i]);
    if (feature == nullptr) {
      throw Error(ErrorKind::kNotFound, format("has no feature {}", options_.fields[i].from),
                  {.path = name}, "map to features that the records have");
    }
    if (target == "image") {
      AddImage(*feature, name, sample);
    } else if (target == "label") {
      AddLabel(kImageClassLabel, *feature, name, sample);
    } else {
      sample.features.Add(target, *feature);
    }
  }
}

void RecordRebuilder::CopyAll(const ExampleView& example, const std::string& name, Sample& sample) {
  const FeatureView* label = FindLabel(example);
  for (const FeatureView& feature : example) {
    if (&feature == label) {
      AddLabel(feature.name(), feature, name, sample);
    } else if (!images_change_ || !IsOfImage(feature.name())) {
      sample.features.Add(feature.name(), feature);
    }
  }
  if (!images_change_) return;
  const FeatureView* image = example.Find(kImageEncoded);
  if (image == nullptr) {
    throw Error(ErrorKind::kNotFound, format("has no feature {}", kImageEncoded), {.path = name},
                "name the image in the fields: image=FEATURE");
  }
  AddImage(*image, name, sample);
}

void RecordRebuilder::AddImage(const FeatureView& feature, const std::string& name,
                               Sample& sample) {
  if (feature.bytes_values().size() != 1) {
    throw Error(ErrorKind::kUnsupported, format("{} is not a single image", feature.name()),
                {.path = name});
  }
  const ByteView bytes = feature.bytes_values()[0];
  if (options_.image.check && ReadImageHeader(bytes).format == ImageFormat::kUnknown) {
    throw Error(ErrorKind::kCorrupt, format("{} is not an image", feature.name()), {.path = name});
  }
  images_.Process(feature.bytes_values()[0], name).AddTo(sample.features);
}

void RecordRebuilder::AddLabel(std::string_view target, const FeatureView& feature,
                               const std::string& name, Sample& sample) {
  if (feature.kind() != FeatureKind::kInt64) {
    throw Error(ErrorKind::kUnsupported, format("{} has no numbers", feature.name()),
                {.path = name}, "map `label` to an int64 feature");
  }
  labels_.assign(feature.int64_values().begin(), feature.int64_values().end());
  for (int64_t& label : labels_) {
    if (__builtin_sub_overflow(label, options_.label_offset, &label) || label < 0) {
      if (options_.label_offset == 0) continue;
      throw Error(ErrorKind::kCorrupt, "has a label below the label offset", {.path = name});
    }
  }
  sample.features.AddInt64List(target, labels_);
  if (labels_.size() == 1) sample.label = labels_[0];
}

}  // namespace recpack::pack
