// Python exceptions held by the library.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <mutex>
#include <set>

namespace recpack::python {

// Errors held for one loader. A loader keeps the error that ended it, and its traceback keeps the
// user's frames and so the loader. Python's garbage collector can detect this cycle only if it is
// told what is held here.
class HeldErrors : public std::enable_shared_from_this<HeldErrors> {
 public:
  // A held exception.
  class Held;

  // Requires the GIL. Holds `value` as long as the result or a copy of it exists.
  std::shared_ptr<const Held> Hold(const nanobind::object& value);

  // For the garbage collector: visits each error, or releases all.
  int Visit(visitproc visit, void* argument) const;
  void Clear() noexcept;

 private:
  std::mutex mutex_;  // for free-threaded Python
  std::set<Held*> held_;
};

class HeldErrors::Held {
 public:
  Held(std::shared_ptr<HeldErrors> of, const nanobind::object& value);
  ~Held();  // thread-safe
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  // Requires the GIL. Invalid if the collector released the error.
  nanobind::object value() const { return nanobind::borrow(value_); }

 private:
  friend class HeldErrors;

  const std::shared_ptr<HeldErrors> of_;
  PyObject* value_;
};

// A Python exception on its way through the library, nested in an Error.
class Raised final : public std::exception {
 public:
  explicit Raised(std::shared_ptr<const HeldErrors::Held> held) noexcept : held_(std::move(held)) {}

  const char* what() const noexcept override { return "an exception of Python"; }
  // Requires the GIL.
  nanobind::object value() const { return held_->value(); }

 private:
  std::shared_ptr<const HeldErrors::Held> held_;
};

}  // namespace recpack::python
