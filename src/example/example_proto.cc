#include "src/example/example_proto.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>

#include <climits>
#include <string>

#include "recpack/base/error.h"
#include "recpack/example/view.h"

namespace recpack {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptorProto;

void AddField(pb::DescriptorProto& message, const char* name, int number, Field::Type type,
              Field::Label label, const char* type_name = nullptr) {
  Field& field = *message.add_field();
  field.set_name(name);
  field.set_number(number);
  field.set_type(type);
  field.set_label(label);
  if (type_name != nullptr) field.set_type_name(type_name);
}

void AddList(pb::FileDescriptorProto& file, const char* name, Field::Type type) {
  pb::DescriptorProto& list = *file.add_message_type();
  list.set_name(name);
  AddField(list, "value", 1, type, Field::LABEL_REPEATED);
}

void AddFeature(pb::FileDescriptorProto& file) {
  pb::DescriptorProto& feature = *file.add_message_type();
  feature.set_name("Feature");
  feature.add_oneof_decl()->set_name("kind");
  const auto add = [&](const char* name, int number, const char* type) {
    AddField(feature, name, number, Field::TYPE_MESSAGE, Field::LABEL_OPTIONAL, type);
    feature.mutable_field(number - 1)->set_oneof_index(0);
  };
  add("bytes_list", 1, ".tensorflow.BytesList");
  add("float_list", 2, ".tensorflow.FloatList");
  add("int64_list", 3, ".tensorflow.Int64List");
}

void AddFeatures(pb::FileDescriptorProto& file) {
  pb::DescriptorProto& features = *file.add_message_type();
  features.set_name("Features");
  pb::DescriptorProto& entry = *features.add_nested_type();
  entry.set_name("FeatureEntry");
  entry.mutable_options()->set_map_entry(true);
  AddField(entry, "key", 1, Field::TYPE_STRING, Field::LABEL_OPTIONAL);
  AddField(entry, "value", 2, Field::TYPE_MESSAGE, Field::LABEL_OPTIONAL, ".tensorflow.Feature");
  AddField(features, "feature", 1, Field::TYPE_MESSAGE, Field::LABEL_REPEATED,
           ".tensorflow.Features.FeatureEntry");
}

// Builds tensorflow/core/example/{feature,example}.proto.
pb::FileDescriptorProto ExampleFile() {
  pb::FileDescriptorProto file;
  file.set_name("recpack/example.proto");
  file.set_package("tensorflow");
  file.set_syntax("proto3");
  AddList(file, "BytesList", Field::TYPE_BYTES);
  AddList(file, "FloatList", Field::TYPE_FLOAT);
  AddList(file, "Int64List", Field::TYPE_INT64);
  AddFeature(file);
  AddFeatures(file);
  pb::DescriptorProto& example = *file.add_message_type();
  example.set_name("Example");
  AddField(example, "features", 1, Field::TYPE_MESSAGE, Field::LABEL_OPTIONAL,
           ".tensorflow.Features");
  return file;
}

struct Types {
  Types()
      : prototype(
            factory.GetPrototype(pool.BuildFile(ExampleFile())->FindMessageTypeByName("Example"))) {
  }

  pb::DescriptorPool pool;
  pb::DynamicMessageFactory factory;
  const pb::Message* prototype;
};

}  // namespace

std::unique_ptr<pb::Message> NewExampleMessage() {
  static const Types& types = *new Types;  // never destroyed: messages may outlive main()
  return std::unique_ptr<pb::Message>(types.prototype->New());
}

std::unique_ptr<pb::Message> ParseExampleMessage(ByteView record) {
  auto message = NewExampleMessage();
  const pb::LogSilencer quiet;  // the error below replaces the message on stderr
  if (record.size() > INT_MAX ||
      !message->ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    ExampleView().Parse(record);  // throws with the offset
    throw Error(ErrorKind::kCorrupt, "not a tf.train.Example");
  }
  return message;
}

}  // namespace recpack
