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

// Not thread-safe: protected by the GIL or the bindings' locks. While it waits for a store it holds
// neither, and refuses other threads.
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

  ~ShardWriter() { Drop(); }
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  void Write(const nb::dict& features) {
    Open();
    // May run Python code, which may close this object.
    ExampleBuilder& builder = values_.Set(features);
    RecordWriter& writer = Open();
    if (upload_) {
      ByteBuffer record(builder.ByteSize());
      builder.SerializeTo(record.data());
      WriteUnlocked(writer, record);
    } else {
      const std::span<uint8_t> room = writer.Begin(builder.ByteSize());
      builder.SerializeTo(room.data());
      writer.End();
    }
    ++records_;
    values_.Clear();
  }

  // Does nothing if already closed.
  void Close() {
    RefuseBusy();
    if (!writer_) return;
    RecordWriter taken = std::move(*writer_);  // so that no other thread writes meanwhile
    writer_.reset();
    std::shared_ptr<remote::Upload> taken_upload = std::move(upload_);
    std::optional<TemporaryFile> file = std::exchange(file_, std::nullopt);
    const nb::gil_scoped_release unlocked;
    // They end here, after an error too: a store is then asked to remove parts.
    const std::shared_ptr<remote::Upload> upload = std::move(taken_upload);
    RecordWriter writer = std::move(taken);
    writer.Finish(sync_);
    if (upload) return upload->Finish(remote::Upload::Existing::kReplace);
    PosixFiles().Rename(file->path(), path_, sync_);
    file->Keep();
  }

  void Discard() {
    RefuseBusy();
    Drop();
  }

  uint64_t records() const noexcept { return records_; }

 private:
  void Drop() {
    if (!writer_) return;
    writer_.reset();
    file_.reset();
    if (!upload_) return;
    std::shared_ptr<remote::Upload> upload = std::move(upload_);
    const nb::gil_scoped_release unlocked;
    upload.reset();  // removes its parts from the store
  }

  void WriteUnlocked(RecordWriter& writer, ByteView record) {
    struct Busy {
      explicit Busy(bool& given) : busy(given) { busy = true; }
      ~Busy() { busy = false; }
      bool& busy;
    };
    const Busy busy(busy_);
    const nb::gil_scoped_release unlocked;
    writer.Write(record);
  }

  void RefuseBusy() const {
    if (!busy_) return;
    throw Error(ErrorKind::kInvalidArgument, "this writer is used by another thread",
                {.path = path_}, "take turns, or a writer for each thread");
  }

  RecordWriter& Open() {
    RefuseBusy();
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
  bool busy_ = false;  // a thread writes without the GIL
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
