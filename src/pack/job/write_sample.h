// Turns what a source read into a record.
#pragma once

#include "recpack/record/writer.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

// Writes the record; the view of its payload lasts until the next one. Throws Error as
// ExampleBuilder::ByteSize() and RecordWriter::Begin() do.
ByteView WriteSample(Sample& sample, RecordWriter& writer);

}  // namespace recpack::pack
