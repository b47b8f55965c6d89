// Features of the sample passed to a user function.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/example/view.h"

namespace recpack::python {

// Valid until End(), since it does not own the memory. Not thread-safe: protected by the GIL or the
// bindings' locks; values are copied before Python code runs, which may let another thread in.
class Features {
 public:
  explicit Features(const ExampleView& example) : example_(&example) {}
  // Parses a tf.train.Example. Throws Error (kCorrupt).
  explicit Features(ByteView example);

  void End() noexcept { example_ = nullptr; }

  // Throws RuntimeError after End().
  const ExampleView& example() const;

  // Returns a copy of the values. Throws KeyError that lists the features if `name` is missing.
  nanobind::object Get(const std::string& name) const;
  std::vector<std::string> Names() const;

 private:
  std::unique_ptr<ExampleView> own_;
  const ExampleView* example_;
};

}  // namespace recpack::python
