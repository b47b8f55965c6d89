// Bindings of the writer of a shard.
#include "recpack/record/writer.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <memory>
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
#include "src/remote/store/upload.h"
#include "src/remote/url/url.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

// Not thread-safe: protected by the GIL or the bindings' locks.
class ShardWriter {
 public:
  ShardWriter(const std::string& path, const std::string& compression, int level, bool sync)
      : path_(Absolute(path)), sync_(sync) {
    WriterOptions options;
    options.compression = ParseCompression(compression);
    options.level = level;
    if (remote::IsUrl(path_)) {
      upload_ = std::make_shared<remote::Upload>(path_);
      writer_.emplace(std::make_unique<remote::UploadedFile>(path_, upload_), options);
    } else {
      file_.emplace(path_ + ".tmp-" + std::to_string(::getpid()));
      writer_.emplace(PosixFiles().Create(file_->path()), options);
    }
  }

  void Write(const nb::dict& features) {
    Open();
    // May run Python code, which may close this object.
    ExampleBuilder& builder = values_.Set(features);
    RecordWriter& writer = Open();
    const std::span<uint8_t> room = writer.Begin(builder.ByteSize());
    builder.SerializeTo(room.data());
    std::optional<nb::gil_scoped_release> unlocked;
    if (upload_) unlocked.emplace();  // it waits for the network
    writer.End();
    unlocked.reset();
    ++records_;
    values_.Clear();
  }

  // Does nothing if already closed.
  void Close() {
    if (!writer_) return;
    RecordWriter writer = std::move(*writer_);  // so that no other thread writes meanwhile
    writer_.reset();
    const std::shared_ptr<remote::Upload> upload = std::move(upload_);
    std::optional<TemporaryFile> file = std::exchange(file_, std::nullopt);
    const nb::gil_scoped_release unlocked;
    writer.Finish(sync_);
    if (upload) return upload->Finish(remote::Upload::Existing::kReplace);
    PosixFiles().Rename(file->path(), path_, sync_);
    file->Keep();
  }

  void Discard() {
    if (!writer_) return;
    writer_.reset();
    file_.reset();
    std::shared_ptr<remote::Upload> upload = std::move(upload_);
    const nb::gil_scoped_release unlocked;
    upload.reset();  // removes its parts from the store
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
  std::optional<TemporaryFile> file_;       // of a path
  std::shared_ptr<remote::Upload> upload_;  // of a URL
  std::optional<RecordWriter> writer_;      // nullopt once closed
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
