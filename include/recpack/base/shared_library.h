// Libraries that are loaded at run time: programs start where they are not, and do not pay for them
// where nobody asks.
#pragma once

#include <string>

namespace recpack {

// Stays loaded for ever, and with it its functions. Copies are the same library. Any thread.
class SharedLibrary {
 public:
  enum class Symbols : bool {
    kOwn,     // only Find() sees them
    kShared,  // libraries that are loaded later do too
  };

  // By its name, as the system's search goes, then as `elsewhere`, a path where the build found it;
  // empty: nowhere else. Throws Error (kUnsupported) that says why it cannot be loaded; `fix` is
  // what to do then.
  SharedLibrary(std::string name, const std::string& elsewhere, const std::string& fix,
                Symbols symbols = Symbols::kOwn);

  // Throws Error (kUnsupported) where it has no such function: it is of another version.
  template <typename Function>
  void Find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(Find(name));
  }

 private:
  void* Find(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace recpack
