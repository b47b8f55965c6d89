// Shared libraries loaded at run time (dlopen): programs start without them, and load them only
// when they are used.
#pragma once

#include <string>

namespace recpack {

// Handle to a loaded library. The library is never unloaded; copies refer to the same one.
// Thread-safe.
class SharedLibrary {
 public:
  enum class Symbols : bool {
    kOwn,     // visible to Find() only (RTLD_LOCAL)
    kShared,  // visible to libraries loaded later, too (RTLD_GLOBAL)
  };

  // Loads the library `name` from the system's search path, else from `elsewhere`, the path where
  // the build found it (may be empty). Throws Error (kUnsupported) with the reason and the advice
  // `fix` if it cannot be loaded.
  SharedLibrary(std::string name, const std::string& elsewhere, const std::string& fix,
                Symbols symbols = Symbols::kOwn);

  // Looks up a function. Throws Error (kUnsupported) if the library does not have it, as another
  // version may not.
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
