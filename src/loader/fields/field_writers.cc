// Writers of a list of fields, one after the other.
#include "src/loader/fields/field_writer.h"

namespace recpack {

FieldWriters::FieldWriters(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    writers_.push_back(MakeFieldWriter(field, fields));
    first_array_.push_back(arrays_.size());
    for (ArraySpec& array : writers_.back()->Arrays()) arrays_.push_back(std::move(array));
  }
}

void FieldWriters::Write(const SampleRecord& sample, SampleTools& tools,
                         std::span<uint8_t* const> out) const {
  for (size_t i = 0; i < writers_.size(); ++i) {
    writers_[i]->Write(sample, tools, out.subspan(first_array_[i]));
  }
}

}  // namespace recpack
