#include "src/train/onnx/onnx_file.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/train/onnx/onnx_tensor.h"

namespace recpack::train {
namespace {

// Walks the messages of onnx.proto; the numbers of fields are its.
class Parser {
 public:
  Parser(const std::string& path, ByteView file)
      : file_(file), messages_(file), tensors_(messages_, path) {}

  OnnxGraph Read() {
    OnnxGraph graph;
    bool found = false;
    messages_.Walk(file_, [&](uint32_t field, WireReader& reader) {
      if (field != 7) return false;  // graph
      graph = Graph(reader.ReadLengthDelimited());
      found = true;
      return true;
    });
    if (!found) throw Error(ErrorKind::kCorrupt, "is not an ONNX file: it has no graph");
    std::erase_if(graph.inputs,
                  [&](const OnnxInput& input) { return graph.constants.contains(input.name); });
    return graph;
  }

 private:
  OnnxGraph Graph(ByteView message) {
    OnnxGraph graph;
    messages_.Walk(message, [&](uint32_t field, WireReader& reader) {
      switch (field) {
        case 1:
          graph.nodes.push_back(Node(reader.ReadLengthDelimited()));
          return true;
        case 5: {
          std::string name;
          OnnxTensor tensor = tensors_.Read(reader.ReadLengthDelimited(), name);
          graph.constants.emplace(std::move(name), std::move(tensor));
          return true;
        }
        case 11:
          graph.inputs.push_back(Input(reader.ReadLengthDelimited()));
          return true;
        case 12:
          graph.outputs.push_back(Input(reader.ReadLengthDelimited()).name);
          return true;
        default:
          return false;
      }
    });
    return graph;
  }

  OnnxNode Node(ByteView message) {
    OnnxNode node;
    messages_.Walk(message, [&](uint32_t field, WireReader& reader) {
      switch (field) {
        case 1:
          node.inputs.push_back(ToText(reader.ReadLengthDelimited()));
          return true;
        case 2:
          node.outputs.push_back(ToText(reader.ReadLengthDelimited()));
          return true;
        case 3:
          node.name = ToText(reader.ReadLengthDelimited());
          return true;
        case 4:
          node.op = ToText(reader.ReadLengthDelimited());
          return true;
        case 5: {
          std::string name;
          OnnxAttribute attribute = Attribute(reader.ReadLengthDelimited(), name);
          node.attributes.emplace(std::move(name), std::move(attribute));
          return true;
        }
        default:
          return false;
      }
    });
    return node;
  }

  OnnxAttribute Attribute(ByteView message, std::string& name) {
    OnnxAttribute attribute;
    messages_.Walk(message, [&](uint32_t field, WireReader& reader) {
      switch (field) {
        case 1:
          name = ToText(reader.ReadLengthDelimited());
          return true;
        case 2:
          attribute.number = std::bit_cast<float>(reader.ReadFixed32());
          return true;
        case 3:
          attribute.integer = static_cast<int64_t>(reader.ReadVarint());
          return true;
        case 4:
          attribute.text = ToText(reader.ReadLengthDelimited());
          return true;
        case 5: {
          std::string unused;
          attribute.tensor = tensors_.Read(reader.ReadLengthDelimited(), unused);
          return true;
        }
        case 8:
          messages_.AddIntegers(reader, attribute.integers);
          return true;
        default:
          return false;
      }
    });
    return attribute;
  }

  OnnxInput Input(ByteView message) {
    OnnxInput input;
    const auto dimension = [&](uint32_t field, WireReader& reader) {
      if (field != 1) return false;
      int64_t extent = -1;
      messages_.Walk(reader.ReadLengthDelimited(), [&](uint32_t kind, WireReader& value) {
        if (kind != 1) return false;
        extent = static_cast<int64_t>(value.ReadVarint());
        return true;
      });
      input.shape.push_back(extent);
      return true;
    };
    const auto within = [&](uint32_t wanted, const auto& take) {
      return [this, wanted, &take](uint32_t field, WireReader& reader) {
        if (field != wanted) return false;
        messages_.Walk(reader.ReadLengthDelimited(), take);
        return true;
      };
    };
    const auto shape = within(2, dimension);
    const auto type = within(1, shape);
    messages_.Walk(message, [&](uint32_t field, WireReader& reader) {
      if (field == 1) {
        input.name = ToText(reader.ReadLengthDelimited());
        return true;
      }
      return within(2, type)(field, reader);
    });
    return input;
  }

  const ByteView file_;
  const OnnxMessages messages_;
  OnnxTensorReader tensors_;
};

}  // namespace

bool IsOnnxPath(const std::string& path) { return path.ends_with(".onnx"); }

OnnxGraph ReadOnnx(const std::string& path) {
  const ByteBuffer file = ReadWholeFile(PosixFiles(), path);
  try {
    OnnxGraph graph = Parser(path, file).Read();
    Sha256 digest;
    digest.Update(file);
    graph.sha256 = Hex(digest.Finish());
    return graph;
  } catch (const Error& error) {
    if (!error.place().path.empty()) throw;
    if (!error.place().offset) throw error.At({.path = path});
    throw Error(ErrorKind::kCorrupt, "is cut off, or is not an ONNX file: " + error.reason(),
                {.path = path, .offset = error.place().offset}, "export or copy it again");
  }
}

}  // namespace recpack::train
