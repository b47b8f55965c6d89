// Features of the sample that a function of the user is called with.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/example/view.h"

namespace recpack::python {

// There until End(): the memory is another's. One thread at a time, by the GIL or the bindings'
// locks: values are copied before Python's code runs, which may let another thread in.
class Features {
 public:
  explicit Features(const ExampleView& example) : example_(&example) {}
  // Of a tf.train.Example. Throws Error (kCorrupt).
  explicit Features(ByteView example);

  void End() noexcept { example_ = nullptr; }

  // Throws a RuntimeError after End().
  const ExampleView& example() const;

  // A copy of the values, or a KeyError that names the features there are.
  nanobind::object Get(const std::string& name) const;
  std::vector<std::string> Names() const;

 private:
  std::unique_ptr<ExampleView> own_;
  const ExampleView* example_;
};

}  // namespace recpack::python
