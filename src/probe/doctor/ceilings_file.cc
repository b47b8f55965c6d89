// Reads and writes ceilings as JSON files.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "recpack/base/bytes.h"
#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/doctor/machine_parts.h"

namespace recpack::probe {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kPrefix = "ceilings-";

Json ToJson(const ceiling::Spread& spread) {
  if (!spread.measured()) return {{"unavailable", spread.unavailable}};
  return {{"value", spread.value}, {"low", spread.low}, {"high", spread.high}};
}

ceiling::Spread ParseSpread(const Json& json) {
  if (json.contains("unavailable")) return {.unavailable = json["unavailable"]};
  return {.value = json.at("value"), .low = json.at("low"), .high = json.at("high")};
}

Ceilings ParseCeilings(const Json& json) {
  if (json.at("version") != kVersion) {
    throw Error(ErrorKind::kUnsupported, "has another version");
  }
  Ceilings ceilings{.measured_at = json.at("measured_at"),
                    .machine = json.at("machine"),
                    .storage = json.at("storage"),
                    .data = json.at("data"),
                    .cores = json.at("cores"),
                    .load = json.at("load"),
                    .rates = {},
                    .decode = {},
                    .scaling = {},
                    .store_bytes_per_second = json.at("store_bytes_per_s"),
                    .resize = {}};
  for (const Json& each : json.at("ceilings")) {
    ceilings.rates.push_back({.name = each.at("name"),
                              .unit = each.at("unit"),
                              .one = ParseSpread(each.at("one")),
                              .all = ParseSpread(each.at("all")),
                              .threads = each.at("threads"),
                              .how = each.at("how")});
  }
  const Json& decode = json.at("decode");
  ceilings.decode = {decode.at("picture_s"), decode.at("byte_s"), decode.at("pixel_s")};
  for (const Json& at : json.at("scaling")) {
    ceilings.scaling.push_back({at.at("threads"), at.at("compute"), at.at("memory")});
  }
  if (ceilings.scaling.empty()) throw Error(ErrorKind::kCorrupt, "has no scaling");
  if (json.contains("resize")) {
    const Json& resize = json["resize"];
    ceilings.resize = ResizeEffect{resize.at("shorter"), resize.at("bytes"), resize.at("seconds")};
  }
  return ceilings;
}

fs::path CacheFolder(const std::string& folder) {
  if (!folder.empty()) return folder;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "recpack";
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr || *home == '\0' ? "/tmp" : home) / ".cache" / "recpack";
}

std::string Hash(const std::string& text) {
  Sha256 hash;
  hash.Update(AsBytes(text));
  return Hex(hash.Finish()).substr(0, 16);
}

}  // namespace

std::string MachineKey() {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  const Reading<std::string> model = ReadMachineCores({}).model;
  return format("{}, {}, {} threads", host, model ? *model : "unknown processor",
                AvailableThreads());
}

std::string CeilingsJson(const Ceilings& ceilings) {
  Json json = {{"version", kVersion},
               {"measured_at", ceilings.measured_at},
               {"machine", ceilings.machine},
               {"storage", ceilings.storage},
               {"data", ceilings.data},
               {"cores", ceilings.cores},
               {"load", ceilings.load},
               {"ceilings", Json::array()},
               {"decode",
                {{"picture_s", ceilings.decode.picture},
                 {"byte_s", ceilings.decode.byte},
                 {"pixel_s", ceilings.decode.pixel}}},
               {"scaling", Json::array()},
               {"store_bytes_per_s", ceilings.store_bytes_per_second}};
  for (const Ceiling& each : ceilings.rates) {
    json["ceilings"].push_back({{"name", each.name},
                                {"unit", each.unit},
                                {"one", ToJson(each.one)},
                                {"all", ToJson(each.all)},
                                {"threads", each.threads},
                                {"how", each.how}});
  }
  for (const ceiling::Slowdown& at : ceilings.scaling) {
    json["scaling"].push_back(
        {{"threads", at.threads}, {"compute", at.compute}, {"memory", at.memory}});
  }
  if (ceilings.resize) {
    json["resize"] = {{"shorter", ceilings.resize->shorter},
                      {"bytes", ceilings.resize->bytes},
                      {"seconds", ceilings.resize->seconds}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void KeepCeilings(const Ceilings& ceilings, const std::string& folder) {
  const fs::path into = CacheFolder(folder);
  std::error_code code;
  fs::create_directories(into, code);
  if (code) throw SystemError("cannot make", into, code.value());
  const fs::path path =
      into / format("{}{}-{}.json", kPrefix, Hash(ceilings.machine), Hash(ceilings.storage));
  // WriteFileAtomically() writes into a pipe or a device instead of replacing it.
  if (!fs::is_regular_file(path, code)) fs::remove(path, code);
  WriteFileAtomically(PosixFiles(), path, AsBytes(CeilingsJson(ceilings) + "\n"), false);
}

std::optional<Ceilings> KeptCeilings(const std::string& folder, const std::string& storage) {
  const std::string machine = MachineKey();
  const std::string prefix = format("{}{}-", kPrefix, Hash(machine));
  std::optional<Ceilings> latest;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(CacheFolder(folder), code)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    try {
      constexpr uint64_t kMost = 1 << 20;
      const ByteBuffer text = ReadWholeFile(PosixFiles(), entry.path(), kMost);
      Ceilings ceilings = ParseCeilings(Json::parse(AsText(text)));
      if (ceilings.machine != machine || (!storage.empty() && ceilings.storage != storage))
        continue;
      if (!latest || ceilings.measured_at > latest->measured_at) latest = std::move(ceilings);
    } catch (const std::exception&) {  // skip a damaged file
    }
  }
  return latest;
}

}  // namespace recpack::probe
