// Oracle for tests: records parsed by Protocol Buffers, as comparable text; and random records.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/example/view.h"
#include "src/example/example_proto.h"

namespace recpack {

// Feature as kind and values, each value as raw bytes, so that NaNs compare by their bits.
struct PlainFeature {
  FeatureKind kind = FeatureKind::kNone;
  std::vector<std::string> values;
  bool operator==(const PlainFeature&) const = default;
};
using PlainExample = std::map<std::string, PlainFeature>;

template <typename T>
std::string Raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Parses with ExampleView; empty if it refuses the record.
inline std::optional<PlainExample> ByView(ByteView record) {
  ExampleView view;
  try {
    view.Parse(record);
  } catch (const Error&) {
    return {};
  }
  PlainExample plain;
  for (const FeatureView& feature : view) {
    PlainFeature& into = plain[std::string(feature.name())];
    into.kind = feature.kind();
    for (const ByteView value : feature.bytes_values()) into.values.emplace_back(AsText(value));
    for (const float value : feature.float_values()) into.values.push_back(Raw(value));
    for (const int64_t value : feature.int64_values()) into.values.push_back(Raw(value));
  }
  return plain;
}

// Parses with Protocol Buffers.
inline std::optional<PlainExample> ByOracle(ByteView record) {
  namespace pb = google::protobuf;
  std::unique_ptr<pb::Message> message;
  try {
    message = ParseExampleMessage(record);
  } catch (const Error&) {
    return {};
  }
  PlainExample plain;
  const auto* features_field = message->GetDescriptor()->field(0);
  const pb::Message& features = message->GetReflection()->GetMessage(*message, features_field);
  const auto* map = features.GetDescriptor()->field(0);
  for (int i = 0; i < features.GetReflection()->FieldSize(features, map); ++i) {
    const pb::Message& entry = features.GetReflection()->GetRepeatedMessage(features, map, i);
    const auto* type = entry.GetDescriptor();
    PlainFeature& into = plain[entry.GetReflection()->GetString(entry, type->field(0))];
    into = {};
    const pb::Message& value = entry.GetReflection()->GetMessage(entry, type->field(1));
    const auto* set =
        value.GetReflection()->GetOneofFieldDescriptor(value, value.GetDescriptor()->oneof_decl(0));
    if (set == nullptr) continue;
    into.kind = static_cast<FeatureKind>(set->number());
    const pb::Message& list = value.GetReflection()->GetMessage(value, set);
    const auto* values = list.GetDescriptor()->field(0);
    const auto* reflection = list.GetReflection();
    for (int k = 0; k < reflection->FieldSize(list, values); ++k) {
      if (set->number() == 1) into.values.push_back(reflection->GetRepeatedString(list, values, k));
      if (set->number() == 2)
        into.values.push_back(Raw(reflection->GetRepeatedFloat(list, values, k)));
      if (set->number() == 3) {
        into.values.push_back(Raw(int64_t{reflection->GetRepeatedInt64(list, values, k)}));
      }
    }
  }
  return plain;
}

// Serialises with Protocol Buffers, with sorted map entries.
inline std::string SerializeByOracle(ByteView record) {
  namespace pb = google::protobuf;
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  ParseExampleMessage(record)->SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace recpack
