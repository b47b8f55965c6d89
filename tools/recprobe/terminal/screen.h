// Draws a view on a terminal that is taken over for a while, and reads single keys.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace recpack::tool {

// The terminal's second screen, without a cursor; keys are neither shown nor awaited for a line.
// The destructor gives the terminal back as it was. At most one object at a time.
class Screen {
 public:
  // `terminal`: a descriptor of a terminal, which must stay open.
  explicit Screen(int terminal);
  ~Screen();
  Screen(const Screen&) = delete;

  struct Size {
    size_t rows = 24;
    size_t columns = 80;
  };
  Size size() const noexcept;

  // Replaces what is shown by these lines, which must fit.
  void Draw(const std::string& lines) const;

  // Returns a key that was pressed since the last call; nullopt: none.
  std::optional<char> Key() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::tool
