// Writes a record into the shard named on the command line and reads it back.
#include <cstdio>
#include <exception>

#include "recpack/base/file.h"
#include "recpack/example/builder.h"
#include "recpack/record/reader.h"
#include "recpack/record/writer.h"

namespace {

bool WritesAndReads(const char* path) {
  recpack::ExampleBuilder builder;
  builder.AddInt64("label", 7);
  recpack::ByteBuffer payload(builder.ByteSize());
  builder.SerializeTo(payload.data());

  recpack::RecordWriter writer(recpack::PosixFiles().Create(path), {});
  writer.Write(payload);
  writer.Finish(/*sync=*/false);

  recpack::RecordReader reader(recpack::PosixFiles().OpenForReading(path), {});
  recpack::Record record;
  return reader.Next(record) && recpack::AsText(record.payload) == recpack::AsText(payload) &&
         !reader.Next(record);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc == 2 && WritesAndReads(argv[1]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
