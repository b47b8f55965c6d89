#include "python/calls/held_errors.h"

#include <utility>

namespace recpack::python {
namespace nb = nanobind;

std::shared_ptr<const HeldErrors::Held> HeldErrors::Hold(const nb::object& value) {
  return std::make_shared<const Held>(shared_from_this(), value);
}

// The collector stops all threads, but never while one holds this lock.
int HeldErrors::Visit(visitproc visit, void* argument) const {
  for (const Held* held : held_) {
    if (held->value_ == nullptr) continue;
    if (const int stop = visit(held->value_, argument); stop != 0) return stop;
  }
  return 0;
}

void HeldErrors::Clear() noexcept {
  for (;;) {
    PyObject* value = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (Held* held : held_) {
        if ((value = std::exchange(held->value_, nullptr)) != nullptr) break;
      }
    }
    if (value == nullptr) return;
    Py_DECREF(value);
  }
}

HeldErrors::Held::Held(std::shared_ptr<HeldErrors> of, const nb::object& value)
    : of_(std::move(of)), value_(nb::object(value).release().ptr()) {
  const std::lock_guard lock(of_->mutex_);
  of_->held_.insert(this);
}

HeldErrors::Held::~Held() {
  if (!nb::is_alive()) return;  // the interpreter is gone, and with it the exception
  const nb::gil_scoped_acquire locked;
  if (!locked) return;
  PyObject* value = nullptr;
  {
    const std::lock_guard lock(of_->mutex_);
    of_->held_.erase(this);
    value = std::exchange(value_, nullptr);
  }
  const nb::error_scope scope;  // preserves the error state of the releasing thread
  Py_XDECREF(value);
}

}  // namespace recpack::python
