// Bindings of the writer of a shard.
#include "recpack/record/writer.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "python/bind/bind.h"
#include "python/convert/example_values.h"
#include "python/convert/given_path.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/temporaries.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// Not thread-safe: protected by the GIL or the bindings' locks.
class ShardWriter {
 public:
  ShardWriter(const std::string& path, const std::string& compression, int level, bool sync)
      : path_(Absolute(path)), sync_(sync), file_(path_ + ".tmp-" + std::to_string(::getpid())) {
    WriterOptions options;
    options.compression = ParseCompression(compression);
    options.level = level;
    writer_.emplace(PosixFiles().Create(file_.path()), options);
  }

  void Write(const nb::dict& features) {
    Open();
    // May run Python code, which may close this object.
    ExampleBuilder& builder = values_.Set(features);
    RecordWriter& writer = Open();
    const std::span<uint8_t> room = writer.Begin(builder.ByteSize());
    builder.SerializeTo(room.data());
    writer.End();
    ++records_;
    values_.Clear();
  }

  // Does nothing if already closed.
  void Close() {
    if (!writer_) return;
    RecordWriter writer = std::move(*writer_);  // so that no other thread writes meanwhile
    writer_.reset();
    TemporaryFile file = std::move(file_);
    const nb::gil_scoped_release unlocked;
    writer.Finish(sync_);
    PosixFiles().Rename(file.path(), path_, sync_);
    file.Keep();
  }

  void Discard() {
    if (!writer_) return;
    writer_.reset();
    const TemporaryFile removed = std::move(file_);
  }

  uint64_t records() const noexcept { return records_; }

 private:
  RecordWriter& Open() {
    if (writer_) return *writer_;
    throw Error(ErrorKind::kInvalidArgument, "this writer is closed", {.path = path_},
                "open another one; nothing can be added to a shard");
  }

  std::string path_;
  bool sync_;
  TemporaryFile file_;
  std::optional<RecordWriter> writer_;  // nullopt once closed
  ExampleValues values_;
  uint64_t records_ = 0;
};

}  // namespace

void BindWriter(nb::module_& module) {
  nb::class_<ShardWriter>(module, "Writer")
      .def(nb::init<const std::string&, const std::string&, int, bool>(), nb::arg("path"),
           nb::arg("compression"), nb::arg("level"), nb::arg("sync"))
      .def("write", &ShardWriter::Write, nb::arg("features"), nb::lock_self())
      .def("close", &ShardWriter::Close, nb::lock_self())
      .def("discard", &ShardWriter::Discard, nb::lock_self())
      .def("__len__", &ShardWriter::records, nb::lock_self());
}

}  // namespace recpack::python
