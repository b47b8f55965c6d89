// The convolutions of a training step of the ResNet (width 16, batch 128, NHWC), forward and back,
// by whichever version of oneDNN this is compiled with. No target of CMake's, as it is there to
// compare several: bench/train/onednn.py compiles and runs it.
//
//   g++ -O2 -std=c++20 -I INCLUDE bench/train/onednn_convolutions.cc -L LIB -ldnnl -lgomp -o NAME
//   LD_LIBRARY_PATH=LIB NAME [f32|bf16]      prints a line of JSON, the median of 7 passes
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <string>
#include <vector>

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

namespace {

struct Shape {
  int in, size, out, kernel, stride, count;  // count: in the network
};
constexpr Shape kShapes[] = {{3, 32, 16, 3, 1, 1},  {16, 32, 16, 3, 1, 4}, {16, 32, 32, 3, 2, 1},
                             {16, 32, 32, 1, 2, 1}, {32, 16, 32, 3, 1, 3}, {32, 16, 64, 3, 2, 1},
                             {32, 16, 64, 1, 2, 1}, {64, 8, 64, 3, 1, 3},  {64, 8, 128, 3, 2, 1},
                             {64, 8, 128, 1, 2, 1}, {128, 4, 128, 3, 1, 3}};
constexpr int kBatch = 128;

// What a pass runs.
using Pass = std::vector<std::function<void()>>;

template <typename Forward>
auto ForwardOf(const dnnl::engine& engine, const memory::desc& x, const memory::desc& w,
               const memory::desc& y, const memory::dims& stride, const memory::dims& pad) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Forward::primitive_desc(engine, prop_kind::forward_training,
                                          algorithm::convolution_direct, x, w, y, stride, pad, pad);
#else
  return typename Forward::primitive_desc(
      {prop_kind::forward_training, algorithm::convolution_direct, x, w, y, stride, pad, pad},
      engine);
#endif
}

template <typename Backward, typename Hint>
auto BackwardOf(const dnnl::engine& engine, const memory::desc& to, const memory::desc& a,
                const memory::desc& b, const memory::dims& stride, const memory::dims& pad,
                const Hint& hint) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Backward::primitive_desc(engine, algorithm::convolution_direct, to, a, b, stride,
                                           pad, pad, hint);
#else
  return typename Backward::primitive_desc(
      {algorithm::convolution_direct, to, a, b, stride, pad, pad}, engine, hint);
#endif
}

memory Filled(const memory::desc& desc, const dnnl::engine& engine) {
  memory made(desc, engine);
  std::memset(made.get_data_handle(), 0, desc.get_size());
  return made;
}

void Add(const Shape& of, memory::data_type type, const dnnl::engine& engine, dnnl::stream& stream,
         Pass& pass) {
  const int out_size = of.size / of.stride, pad_size = of.kernel / 2;
  const memory::dims stride = {of.stride, of.stride}, pad = {pad_size, pad_size};
  const memory::desc x({kBatch, of.in, of.size, of.size}, type, Tag::nhwc);
  const memory::desc y({kBatch, of.out, out_size, out_size}, type, Tag::nhwc);
  const memory::desc w({of.out, of.in, of.kernel, of.kernel}, type, Tag::any);
  const auto forward = ForwardOf<dnnl::convolution_forward>(engine, x, w, y, stride, pad);
  const memory data = Filled(x, engine), result = Filled(y, engine);
  const auto repeat = [&](auto run) {
    for (int i = 0; i < of.count; ++i) pass.push_back(run);
  };
  const memory weights = Filled(forward.weights_desc(), engine);
  repeat([=, &stream, run = dnnl::convolution_forward(forward)] {
    run.execute(stream,
                {{DNNL_ARG_SRC, data}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}});
  });
  const auto gradient =
      BackwardOf<dnnl::convolution_backward_weights>(engine, x, w, y, stride, pad, forward);
  const memory d_weights = Filled(gradient.diff_weights_desc(), engine);
  repeat([=, &stream, run = dnnl::convolution_backward_weights(gradient)] {
    run.execute(
        stream,
        {{DNNL_ARG_SRC, data}, {DNNL_ARG_DIFF_DST, result}, {DNNL_ARG_DIFF_WEIGHTS, d_weights}});
  });
  if (of.in == 3) return;  // nobody asks for the picture's gradient
  const auto back =
      BackwardOf<dnnl::convolution_backward_data>(engine, x, w, y, stride, pad, forward);
  const memory weights_back = Filled(back.weights_desc(), engine);
  repeat([=, &stream, run = dnnl::convolution_backward_data(back)] {
    run.execute(
        stream,
        {{DNNL_ARG_DIFF_SRC, data}, {DNNL_ARG_WEIGHTS, weights_back}, {DNNL_ARG_DIFF_DST, result}});
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bool bf16 = argc > 1 && std::string(argv[1]) == "bf16";
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  Pass pass;
  for (const Shape& shape : kShapes) {
    Add(shape, bf16 ? memory::data_type::bf16 : memory::data_type::f32, engine, stream, pass);
  }
  std::vector<double> milliseconds;
  for (int i = -2; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& run : pass) run();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (i >= 0) milliseconds.push_back(taken.count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf(
      "{\"onednn\": \"%d.%d.%d\", \"type\": \"%s\", \"ms_median\": %.1f, \"ms_min\": %.1f}\n",
      dnnl_version()->major, dnnl_version()->minor, dnnl_version()->patch, bf16 ? "bf16" : "f32",
      milliseconds[3], milliseconds[0]);
}
