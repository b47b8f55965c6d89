#include "tests/train/cuda_emulated/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace recpack::emulated {
namespace {

constexpr auto kIdle = std::chrono::microseconds(50);

std::mutex& TheMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// Lives until the program ends: static objects may release resources then.
Machine*& TheMachine() {
  static auto* machine = new Machine(Options());
  return machine;
}

Live LiveOf(const Machine& machine) {
  Live live;
  live.arrays = machine.memory.Arrays();
  for (int device = 0; device < machine.options.devices; ++device) {
    live.bytes += machine.memory.BytesOf(device);
  }
  live.pinned = machine.pinned.size();
  live.streams = machine.streams.Count() - machine.devices.size();
  live.events = machine.events.size();
  live.graphs = machine.graphs.size() + machine.execs.size();
  live.work = machine.streams.Waiting();
  return live;
}

}  // namespace

Machine::Machine(const Options& wanted)
    : options(wanted),
      devices(static_cast<size_t>(wanted.devices)),
      streams(
          wanted.seed, [this](const Work& work) { return Before(work); }, [this] { LetOthers(); }) {
  for (size_t i = 0; i < devices.size(); ++i) {
    devices[i].default_stream = streams.Create(static_cast<int>(i));
  }
}

std::optional<cudaStream_t> Machine::StreamOf(cudaStream_t handle) const {
  if (!handle) {
    const auto device = static_cast<size_t>(CurrentDevice());
    if (device >= devices.size()) return {};
    return devices[device].default_stream;
  }
  if (!streams.Knows(handle)) return {};
  return handle;
}

cudaError_t Machine::Submit(cudaStream_t stream, Node::Kind kind, std::function<void()> run,
                            uint32_t touches) {
  Device& device = devices[static_cast<size_t>(stream->device)];
  if (device.failed != cudaSuccess) return device.failed;
  touches |= 1u << stream->device;
  if (kind == Node::Kind::kKernel) {
    for (const int peer : device.peers) touches |= 1u << peer;
  }
  Work work{std::move(run), touches, stream->device};
  if (stream->capture) return captures.Add(stream, {.kind = kind, .work = std::move(work)});
  return Enqueue(stream, std::move(work));
}

cudaError_t Machine::SubmitWaiting(cudaStream_t stream, std::function<void()> run,
                                   std::function<bool()> ready) {
  if (stream->capture) return cudaErrorStreamCaptureUnsupported;
  const cudaError_t& failed = devices[static_cast<size_t>(stream->device)].failed;
  if (failed != cudaSuccess) return failed;
  return Enqueue(stream, {std::move(run), 1u << stream->device, stream->device,
                          [&failed, ready = std::move(ready)] {
                            return failed != cudaSuccess || ready();  // then it is skipped
                          }});
}

cudaError_t Machine::Enqueue(cudaStream_t stream, Work work) {
  streams.Enqueue(stream, std::move(work), ImplicitOrder(stream));
  if (options.early > 0 && streams.random()() % options.early == 0) streams.RunSome(false);
  return cudaSuccess;
}

std::vector<Token> Machine::ImplicitOrder(cudaStream_t stream) const {
  const cudaStream_t default_stream = devices[static_cast<size_t>(stream->device)].default_stream;
  std::vector<Token> after;
  if (stream == default_stream) {
    for (const cudaStream_t other : streams.BlockingOf(stream->device)) {
      if (other->last) after.push_back(other->last);
    }
  } else if (stream->blocking && default_stream->last) {
    after.push_back(default_stream->last);
  }
  return after;
}

bool Machine::Pinned(const void* address) const {
  const auto* const place = static_cast<const char*>(address);
  auto after = pinned.upper_bound(place);
  if (after == pinned.begin()) return false;
  const auto& [begin, bytes] = *--after;
  return place < begin + bytes;
}

// A mark completes even if the device has failed.
bool Machine::Before(const Work& work) {
  if (!work.run) return true;
  cudaError_t& failed = devices[static_cast<size_t>(work.device)].failed;
  if (fault && fault->call.empty() && fault->device == work.device && fault->skip-- == 0) {
    failed = fault->error;
    fault.reset();
  }
  if (failed != cudaSuccess) return false;
  memory.Open(work.devices);
  return true;
}

void Machine::LetOthers() {
  memory.Open(0);
  TheMutex().unlock();
  std::this_thread::sleep_for(kIdle);
  TheMutex().lock();
}

Entered::Entered() : lock_(TheMutex()) {}
Entered::~Entered() { TheMachine()->memory.Open(0); }
Machine* Entered::operator->() const { return TheMachine(); }
Machine& Entered::operator*() const { return *TheMachine(); }

int& CurrentDevice() {
  thread_local int device = 0;
  return device;
}

cudaError_t& LastError() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t Begin(Machine& machine, const char* name, Safety safety) {
  ++machine.calls[name];
  auto& fault = machine.fault;
  if (fault && fault->call == name && fault->skip-- == 0) {
    const cudaError_t error = fault->error;
    fault.reset();
    return error;
  }
  if (safety == Safety::kUnsafe && machine.captures.Forbid()) {
    return cudaErrorStreamCaptureUnsupported;
  }
  return cudaSuccess;
}

void SetUp(const Options& options) {
  const std::lock_guard lock(TheMutex());
  Machine*& machine = TheMachine();
  machine->streams.RunAll();
  if (LiveOf(*machine) != Live()) {
    std::fprintf(stderr, "emulated CUDA: set up anew while things of the machine before live\n");
    std::abort();
  }
  delete machine;
  machine = new Machine(options);
  CurrentDevice() = 0;
  LastError() = cudaSuccess;
}

void FailCall(const std::string& name, cudaError_t error, int skip) {
  const Entered machine;
  machine->fault = {.call = name, .error = error, .skip = skip};
}

void FailWork(int device, cudaError_t error, int skip) {
  const Entered machine;
  machine->fault = {.device = device, .error = error, .skip = skip};
}

Live WhatLives() {
  const Entered machine;
  return LiveOf(*machine);
}

size_t Calls(const std::string& name) {
  const Entered machine;
  const auto found = machine->calls.find(name);
  return found == machine->calls.end() ? 0 : found->second;
}

}  // namespace recpack::emulated
