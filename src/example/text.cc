#include "recpack/example/text.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "recpack/example/view.h"
#include "src/base/format.h"
#include "src/example/example_proto.h"

namespace recpack {
namespace {

namespace pb = google::protobuf;

constexpr size_t kLongestText = 80;  // bytes; longer text is not shown

// Tells whether the text is short and has no control characters (ASCII or U+0080 to U+009F), which
// a terminal would interpret.
bool IsPrintable(std::string_view text) {
  if (text.size() > kLongestText || !IsUtf8(text)) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    if (byte == 0xc2 && static_cast<uint8_t>(text[i + 1]) < 0xa0) return false;
  }
  return true;
}

std::string ShownName(std::string_view name) {
  return IsPrintable(name) ? std::string(name) : format("<a name of {} bytes>", name.size());
}

std::string Shown(ByteView value) {
  const std::string_view text = AsText(value);
  return IsPrintable(text) ? format("\"{}\"", text) : format("<{} bytes>", value.size());
}

template <typename Values, typename Show>
std::string List(const Values& values, size_t most, Show show) {
  std::string text = "[";
  for (size_t i = 0; i < std::min(values.size(), most); ++i) {
    text += (i > 0 ? ", " : "") + show(values[i]);
  }
  if (values.size() > most) text += format(", ... {} in all", values.size());
  return text + "]";
}

std::string SerializeSorted(const pb::Message& message) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);  // sorts map entries by key
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace

std::string ExampleSummary(ByteView record, size_t max_values) {
  ExampleView view;
  view.Parse(record);
  std::string text;
  for (const FeatureView& feature : view) {
    std::string values = "[]";
    if (feature.kind() == FeatureKind::kBytes)
      values = List(feature.bytes_values(), max_values, Shown);
    if (feature.kind() == FeatureKind::kFloat) {
      values = List(feature.float_values(), max_values, [](float v) { return format("{}", v); });
    }
    if (feature.kind() == FeatureKind::kInt64) {
      values = List(feature.int64_values(), max_values, [](int64_t v) { return format("{}", v); });
    }
    text +=
        format("{}: {} {}\n", ShownName(feature.name()), FeatureKindName(feature.kind()), values);
  }
  return text;
}

std::string ExampleToText(ByteView record) {
  std::string text;
  pb::TextFormat::PrintToString(*ParseExampleMessage(record), &text);
  return text;
}

std::string ExampleToJson(ByteView record) {
  std::string json;
  const auto status = pb::util::MessageToJsonString(*ParseExampleMessage(record), &json);
  if (!status.ok()) throw Error(ErrorKind::kCorrupt, std::string(status.message()));
  return json;
}

ByteBuffer ExampleFromJson(std::string_view json) {
  const auto message = NewExampleMessage();
  const auto status =
      pb::util::JsonStringToMessage(pb::StringPiece(json.data(), json.size()), message.get());
  if (!status.ok()) {
    throw Error(ErrorKind::kInvalidArgument,
                "is not the JSON of a tf.train.Example: " + std::string(status.message()));
  }
  const std::string bytes = SerializeSorted(*message);
  return {bytes.begin(), bytes.end()};
}

}  // namespace recpack
