// Helpers for library threads that call Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace recpack::python {

// Attaches the calling thread to the interpreter until the thread ends, so that Python's
// thread-local state (threading.local) persists across calls. Call this without the GIL, before
// each gil_scoped_acquire.
void AttachThread();

// A Python object that can be copied and released without the GIL.
class SharedObject {
 public:
  explicit SharedObject(nanobind::object object)
      : object_(new nanobind::object(std::move(object)), Release) {}

  // Requires the GIL.
  const nanobind::object& operator*() const noexcept { return *object_; }

 private:
  static void Release(nanobind::object* object) noexcept;

  std::shared_ptr<nanobind::object> object_;
};

}  // namespace recpack::python
