// Threads of the library that call Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace recpack::python {

// Gives the calling thread its place in the interpreter until it ends, so that what Python keeps by
// thread (threading.local) stays from call to call. Without the GIL, before each
// gil_scoped_acquire.
void AttachThread();

// An object of Python that is copied and let go of without the GIL.
class SharedObject {
 public:
  explicit SharedObject(nanobind::object object)
      : object_(new nanobind::object(std::move(object)), Release) {}

  // With the GIL.
  const nanobind::object& operator*() const noexcept { return *object_; }

 private:
  static void Release(nanobind::object* object) noexcept;

  std::shared_ptr<nanobind::object> object_;
};

}  // namespace recpack::python
