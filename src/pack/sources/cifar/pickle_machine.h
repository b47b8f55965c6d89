// Stack machine behind ParsePickle(). Its parts are in pickle_machine.cc (opcodes),
// pickle_values.cc (strings and numbers), pickle_stack.cc, and pickle_numpy.cc (NumPy's globals).
// Python's Lib/pickletools.py documents the opcodes.
#pragma once

#include <unordered_map>
#include <vector>

#include "src/pack/sources/cifar/pickle.h"
#include "src/pack/sources/cifar/pickle_stream.h"

namespace recpack::pack {

// Recognised globals, each interpreted as data.
enum class PickleGlobal : uint8_t {
  kReconstruct,  // numpy[._]core.multiarray._reconstruct(ndarray, (0,), 'b')
  kFromBuffer,   // numpy[._]core.numeric._frombuffer(buffer, dtype, shape, order)
  kScalar,       // numpy[._]core.multiarray.scalar(dtype, bytes)
  kNdarray,
  kDtype,        // numpy.dtype(type, align, copy)
  kEncode,       // _codecs.encode(text, 'latin1')
  kBytes,        // bytes()
  kByteArray,    // bytearray([bytes | text, 'latin-1'])
  kOrderedDict,  // collections.OrderedDict()
};

class PickleMachine {
 public:
  explicit PickleMachine(const PickleInput& input);

  PickleDocument Run();

 private:
  using Node = PickleDocument::Node;
  using Items = std::vector<PickleValue>;

  static constexpr size_t kMaxValues = size_t{1} << 22;
  // Unicode escapes may double in length, as decoded text and once more as Latin-1.
  static constexpr uint64_t kMaxExpansion = 4;
  static constexpr size_t kMaxDimensions = 32;  // NumPy's own limit before version 2

  // Each executes the opcode and returns true if it belongs to its group.
  bool RunString(uint8_t opcode);
  bool RunNumber(uint8_t opcode);
  bool RunLine(uint8_t opcode);
  bool RunContainer(uint8_t opcode);
  bool RunMemo(uint8_t opcode);
  bool RunObject(uint8_t opcode);
  bool RunStack(uint8_t opcode);
  [[noreturn]] void RefuseOpcode(uint8_t opcode);

  // Stack.
  void Push(PickleValue value);
  void PushNumber(PickleKind kind, int64_t number);
  void PushNode(PickleKind kind, Items items = {});
  void PushString(PickleKind kind, const PickleExtent& extent);
  void PushDecoded(PickleKind kind, const uint8_t* data, size_t size);
  void PushLong(uint64_t size);
  void PushLiteral();
  PickleValue Pop();
  Items PopToMark();
  Items PopMany(size_t count);
  void RequireStack(size_t count);
  Node& GetNode(const PickleValue& value);
  void Append(PickleKind kind, Items items);
  void PushDict(Items items);
  void StoreMemo(uint64_t key, PickleValue value);
  void LoadMemo(uint64_t key);
  uint8_t* NewDecoded(uint64_t size);

  // Globals.
  void PushGlobal(std::string_view module, std::string_view name);
  void PushGlobalFromStack();
  void Reduce();
  void Build();
  void Encode(const Items& arguments);
  void MakeByteArray(const Items& arguments);
  void MakeDtype(const Items& arguments);
  void MakeScalar(const Items& arguments);
  void MakeFromBuffer(const Items& arguments);
  void BuildArray(Node& array, std::span<const PickleValue> state);
  void BuildDtype(Node& dtype, std::span<const PickleValue> state);
  std::vector<uint64_t> ParseShape(const PickleValue& tuple);
  void SetArray(PickleArray& array, const PickleValue& shape, const PickleValue& dtype,
                const PickleValue& data);
  std::string_view Text(const PickleValue& value);
  const PickleArray& Dtype(const PickleValue& value);
  void RequireArguments(std::span<const PickleValue> values, size_t count, const char* what);

  [[noreturn]] void Corrupt(const std::string& reason) { stream_.Corrupt(opcode_offset_, reason); }

  PickleDocument document_;
  PickleStream stream_;
  uint64_t opcode_offset_ = 0;
  size_t values_ = 0;
  uint64_t decoded_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue> memo_;
};

}  // namespace recpack::pack
