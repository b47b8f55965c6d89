// Turns what a source read into a record.
#pragma once

#include "src/pack/item/source.h"
#include "recpack/record/writer.h"

namespace recpack {

// Writes the record; the view of its payload lasts until the next one. Throws Error as
// ExampleBuilder::ByteSize() and RecordWriter::Begin() do.
ByteView WriteSample(Sample& sample, RecordWriter& writer);

}  // namespace recpack
