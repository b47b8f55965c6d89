// What functions of the user raised, for as long as the library has it.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <mutex>
#include <set>

namespace recpack::python {

// Of one loader. A loader keeps the error that ended it, whose traceback keeps all that it came
// through: the user's frames, and so the loader. Python's collector sees that this is a cycle only
// if it is told of what is held here.
class HeldErrors : public std::enable_shared_from_this<HeldErrors> {
 public:
  // One of them.
  class Held;

  // With the GIL: holds `value` as long as the result, or a copy of it, is there.
  std::shared_ptr<const Held> Hold(const nanobind::object& value);

  // For the collector: visits each of them, or lets go of them all.
  int Visit(visitproc visit, void* argument) const;
  void Clear() noexcept;

 private:
  std::mutex mutex_;  // where there is no GIL
  std::set<Held*> held_;
};

class HeldErrors::Held {
 public:
  Held(std::shared_ptr<HeldErrors> of, const nanobind::object& value);
  ~Held();  // any thread
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  // With the GIL. Not valid where the collector took it.
  nanobind::object value() const { return nanobind::borrow(value_); }

 private:
  friend class HeldErrors;

  const std::shared_ptr<HeldErrors> of_;
  PyObject* value_;
};

// An exception of Python while it goes through the library, nested in an Error.
class Raised final : public std::exception {
 public:
  explicit Raised(std::shared_ptr<const HeldErrors::Held> held) noexcept : held_(std::move(held)) {}

  const char* what() const noexcept override { return "an exception of Python"; }
  // With the GIL.
  nanobind::object value() const { return held_->value(); }

 private:
  std::shared_ptr<const HeldErrors::Held> held_;
};

}  // namespace recpack::python
