// Checked access to the members of a JSON object from a file.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::probe {

// Every call throws Error (kCorrupt) that names the file and the member if a required member is
// missing or a member has the wrong type or is out of range.
class ReportMembers {
 public:
  // `json` must outlive this object. `name`: its path in the file, for errors; empty: the root.
  ReportMembers(const nlohmann::json& json, std::string path, std::string name = "")
      : json_(json), path_(std::move(path)), name_(std::move(name)) {
    if (!json_.is_object()) Refuse("is not an object");
  }

  bool Has(const char* member) const { return json_.contains(member) && !json_[member].is_null(); }

  ReportMembers Object(const char* member) const { return {Need(member), path_, Name(member)}; }

  // Returns the objects of an array; empty if the member is missing.
  std::vector<ReportMembers> Objects(const char* member) const {
    std::vector<ReportMembers> objects;
    if (!Has(member)) return objects;
    const nlohmann::json& array = Array(member);
    objects.reserve(array.size());
    for (const nlohmann::json& one : array) objects.emplace_back(one, path_, Name(member));
    return objects;
  }

  std::string Text(const char* member) const {
    const nlohmann::json& value = Need(member);
    if (!value.is_string()) Refuse("is not a string", member);
    return value.get<std::string>();
  }

  // Empty if the member is missing.
  std::string OptionalText(const char* member) const { return Has(member) ? Text(member) : ""; }

  // Returns the strings of an array; empty if the member is missing.
  std::vector<std::string> Texts(const char* member) const {
    std::vector<std::string> texts;
    if (!Has(member)) return texts;
    for (const nlohmann::json& one : Array(member)) {
      if (!one.is_string()) Refuse("has an element that is not a string", member);
      texts.push_back(one.get<std::string>());
    }
    return texts;
  }

  double Number(const char* member, double least, double most) const {
    return Checked(Need(member), member, least, most);
  }

  std::vector<double> Numbers(const char* member, double least, double most) const {
    std::vector<double> numbers;
    const nlohmann::json& array = Array(member);
    numbers.reserve(array.size());
    for (const nlohmann::json& one : array) {
      numbers.push_back(Checked(one, member, least, most));
    }
    return numbers;
  }

  int64_t Integer(const char* member, int64_t least, int64_t most) const {
    const nlohmann::json& value = Need(member);
    if (!value.is_number_integer()) Refuse("is not an integer", member);
    Checked(value, member, static_cast<double>(least), static_cast<double>(most));
    return value.get<int64_t>();
  }

  std::optional<int> OptionalInteger(const char* member, int least, int most) const {
    if (!Has(member)) return {};
    return static_cast<int>(Integer(member, least, most));
  }

  // Returns nullopt if the member is null. Throws if it is missing.
  std::optional<double> NumberOrNull(const char* member, double least, double most) const {
    if (json_.contains(member) && !Has(member)) return {};
    return Number(member, least, most);
  }

  bool Flag(const char* member) const {
    const nlohmann::json& value = Need(member);
    if (!value.is_boolean()) Refuse("is neither true nor false", member);
    return value.get<bool>();
  }

  [[noreturn]] void Refuse(const std::string& reason, const char* member = "") const {
    const std::string name = *member == '\0' ? name_ : Name(member);
    throw Error(ErrorKind::kCorrupt, name.empty() ? reason : format("'{}' {}", name, reason),
                {.path = path_});
  }

 private:
  const nlohmann::json& Need(const char* member) const {
    const auto found = json_.find(member);
    if (found == json_.end() || found->is_null()) Refuse("is missing", member);
    return *found;
  }

  const nlohmann::json& Array(const char* member) const {
    const nlohmann::json& value = Need(member);
    if (!value.is_array()) Refuse("is not an array", member);
    return value;
  }

  double Checked(const nlohmann::json& value, const char* member, double least, double most) const {
    if (!value.is_number()) Refuse("is not a number", member);
    const auto number = value.get<double>();
    if (!(number >= least && number <= most)) {
      Refuse(format("cannot be {}", value.dump()), member);
    }
    return number;
  }

  std::string Name(const char* member) const {
    return name_.empty() ? member : format("{}.{}", name_, member);
  }

  const nlohmann::json& json_;
  std::string path_;
  std::string name_;
};

}  // namespace recpack::probe
