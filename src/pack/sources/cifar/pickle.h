// Parses Python pickles as data. Never imports, calls or constructs anything: only the NumPy
// globals found in CIFAR batches are recognised, all others are refused by name.
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
  kGlobal,  // a recognised name that is not yet applied to anything
};

// A value of a document; cheap to copy.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  bool in_input = false;          // kBytes, kText: stored verbatim in the input at `offset`
  int64_t number = 0;             // kBool, kInt; kFloat: bits of the double; others: a node
  const uint8_t* data = nullptr;  // kBytes, kText: null if left in the file
  uint64_t size = 0;              // kBytes, kText
  uint64_t offset = 0;            // kBytes, kText: in the input; others: of the opcode
};

struct PickleArray {
  std::string type;  // NumPy's kind and item size: "u1", "i8", ...
  bool big_endian = false;
  bool c_order = true;  // last index varies fastest; else `shape` does not locate items
  std::vector<uint64_t> shape;
  PickleValue data;  // kBytes of the size given by type and shape; any kind for objects ("O8")
};

// Input of the parser. Not owned; must outlive the parsing, and a memory input also the document.
struct PickleInput {
  ByteView memory = {};                // used if `file` is null
  const ReadableFile* file = nullptr;  // strings of at least kPickleBulkBytes are left in it
  std::string path = {};               // for messages
};
inline constexpr size_t kPickleBulkBytes = size_t{1} << 16;

// A parsed pickle. Owns everything except views into a memory input. Move-only.
class PickleDocument {
 public:
  const PickleValue& root() const noexcept { return root_; }

  // Items of a list or tuple; keys and values of a dict in turn; empty for other kinds. A list may
  // contain itself.
  std::span<const PickleValue> Items(const PickleValue& container) const noexcept;

  // The last value of a text or bytes key in a dict; nullptr if there is none.
  const PickleValue* Find(const PickleValue& dict, std::string_view key) const noexcept;

  // Requires value.kind == kArray.
  const PickleArray& Array(const PickleValue& value) const noexcept;

 private:
  friend class PickleMachine;
  struct Node {
    std::vector<PickleValue> items;
    std::unique_ptr<PickleArray> array;  // kArray, and kDtype for its type
  };

  PickleValue root_;
  std::deque<Node> nodes_;
  std::deque<std::unique_ptr<uint8_t[]>> buffers_;  // parts of the file, and decoded strings
};

// Parses protocols 0 to 5 up to the first STOP. Bytes are viewed or left in the file. Only encoded
// forms (protocol 0's literals, latin1 text through _codecs.encode) are decoded into memory, to at
// most four times the size of the input. Throws Error with the byte offset: kCorrupt, or
// kUnsupported for valid but unrecognised contents, such as other globals, and for more than
// 4,194,304 values.
PickleDocument ParsePickle(const PickleInput& input);

}  // namespace recpack::pack
