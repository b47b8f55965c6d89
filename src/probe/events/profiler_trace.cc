#include "src/probe/events/profiler_trace.h"

#include <array>
#include <string_view>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "src/probe/events/kineto_trace.h"
#include "src/probe/events/nsight_trace.h"
#include "src/probe/events/xplane_trace.h"

namespace recpack::probe {
namespace {

constexpr std::string_view kSqlite("SQLite format 3\0", 16);
constexpr char kFirstPlane = 0x0a;  // tag of XSpace.planes; in text it is a line feed

std::string FirstBytes(const std::string& path) {
  std::array<uint8_t, kSqlite.size()> bytes = {};
  const size_t read = PosixFiles().OpenForReading(path)->ReadAt(0, bytes);
  return std::string(AsText({bytes.data(), read}));
}

}  // namespace

ProfilerTrace ReadProfilerTrace(const std::string& path, TraceEvents& events) {
  const std::string first = FirstBytes(path);
  if (first == kSqlite) return ReadNsightTrace(path, events);
  // JSON may begin with a line feed, too.
  const bool text = first.find_first_of("{[") != std::string::npos &&
                    first.find_first_not_of(" \t\r\n{[\"") > first.find_first_of("{[");
  if (first.starts_with(kFirstPlane) && !text) return ReadXPlaneTrace(path, events);
  return ReadKinetoTrace(path, events);
}

}  // namespace recpack::probe
