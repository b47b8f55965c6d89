// Reads Python pickles as data. Nothing is ever imported, called or constructed: the few NumPy
// globals that CIFAR batches hold are understood here, any other is refused by name.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::pack {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kBytes,  // bytes, bytearray, and Python 2's str
  kText,   // unicode text, as UTF-8
  kList,
  kTuple,
  kDict,
  kArray,   // numpy.ndarray
  kDtype,   // numpy.dtype
  kGlobal,  // one of the names that are understood, not yet applied to anything
};

// One value of a document; cheap to copy.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  bool in_input = false;          // kBytes, kText: they stand in the input as they are, at `offset`
  int64_t number = 0;             // kBool, kInt; kFloat: the bits of the double; others: a node
  const uint8_t* data = nullptr;  // kBytes, kText: null where they were left in the file
  uint64_t size = 0;              // kBytes, kText
  uint64_t offset = 0;            // kBytes, kText: in the input; others: of the opcode
};

struct PickleArray {
  std::string type;  // NumPy's kind and item size: "u1", "i8", ...
  bool big_endian = false;
  bool c_order = true;  // the last index is the fastest; else `shape` tells no item's place
  std::vector<uint64_t> shape;
  PickleValue data;  // kBytes, as long as type and shape say; anything for objects (type "O8")
};

// Where a pickle is read from. Not owned; it must outlive the parsing (a memory input also the
// document).
struct PickleInput {
  ByteView memory = {};                // used when `file` is null
  const ReadableFile* file = nullptr;  // strings of kPickleBulkBytes and more are left in it
  std::string path = {};               // for messages
};
inline constexpr size_t kPickleBulkBytes = size_t{1} << 16;

// A parsed pickle. Owns everything but what stands in a memory input; move-only.
class PickleDocument {
 public:
  const PickleValue& root() const noexcept { return root_; }

  // The items of a list or tuple; of a dict keys and values in turn; empty for anything else.
  // A list may contain itself.
  std::span<const PickleValue> Items(const PickleValue& container) const noexcept;

  // The last value of a text or bytes key in a dict, null if there is none.
  const PickleValue* Find(const PickleValue& dict, std::string_view key) const noexcept;

  // value.kind is kArray.
  const PickleArray& Array(const PickleValue& value) const noexcept;

 private:
  friend class PickleMachine;
  struct Node {
    std::vector<PickleValue> items;
    std::unique_ptr<PickleArray> array;  // kArray, and kDtype for its type
  };

  PickleValue root_;
  std::deque<Node> nodes_;
  std::deque<std::unique_ptr<uint8_t[]>> buffers_;  // pieces of the file, and decoded strings
};

// Parses protocols 0 to 5 up to the first STOP. Bytes are viewed or left in the file; only the
// encoded forms (protocol 0's literals, latin1 text through _codecs.encode) are decoded into
// memory, to at most four times the size of the input. Throws Error with the byte offset: kCorrupt,
// or kUnsupported for what is valid but not understood, such as other globals, and for more than
// 4,194,304 values.
PickleDocument ParsePickle(const PickleInput& input);

}  // namespace recpack::pack
