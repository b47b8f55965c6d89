#include "python/calls/attached.h"

namespace recpack::python {
namespace nb = nanobind;
namespace {

class Attachment {
 public:
  Attachment() : state_(PyGILState_Ensure()), thread_(PyEval_SaveThread()) {}
  ~Attachment() {
    if (!nb::is_alive()) return;
    PyEval_RestoreThread(thread_);
    PyGILState_Release(state_);
  }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

 private:
  PyGILState_STATE state_;
  PyThreadState* thread_;
};

}  // namespace

void AttachThread() { thread_local const Attachment attachment; }

void SharedObject::Release(nb::object* object) noexcept {
  if (!nb::is_alive()) return;  // the interpreter is gone, and with it the object
  const nb::gil_scoped_acquire locked;
  if (locked) delete object;
}

}  // namespace recpack::python
