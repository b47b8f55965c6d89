#include "src/pack/sources/list/list_columns.h"

#include <algorithm>
#include <array>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/field_values.h"

namespace recpack::pack {
namespace {

constexpr std::array<const char*, 3> kTypeNames = {"int64", "float", "bytes"};

}  // namespace

void ListColumns::Widen(const ListCells& cells, uint32_t line) {
  seen_.resize(table_.format.columns().size());
  for (const ListCell& cell : cells.all()) {
    if (cell.texts.empty()) continue;
    Seen& seen = seen_[cell.column];
    const bool is_text = cell.type == ListType::kBytes;
    const bool was_text = seen.type == ListType::kBytes;
    if (table_.format.is_json() && seen.any && is_text != was_text) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("{} is {} here and {} above", table_.format.columns()[cell.column],
                         is_text ? "text" : "a number", was_text ? "text" : "a number"));
    }
    if (!seen.any || cell.type > seen.type) {
      seen.any = true;
      seen.type = cell.type;
      seen.line = line;
    }
    if (!is_text) LookForLosses(cell.texts, line, seen);
  }
}

void ListColumns::LookForLosses(const std::vector<std::string>& numbers, uint32_t line,
                                Seen& seen) {
  for (const std::string& number : numbers) {
    if (seen.too_large.empty() && IsBeyondDouble(number)) {
      seen.too_large = number;
      seen.too_large_line = line;
    }
    if (seen.beyond_float.empty() && IsBeyondFloat(number)) {
      seen.beyond_float = number;
      seen.beyond_float_line = line;
    }
  }
}

// Rounding fractions to float is expected. Other losses are errors: whole numbers beyond 2^53,
// which are more often ids than quantities, and numbers that become 0 or infinite.
void ListColumns::CheckNumbers(size_t column) const {
  const Seen& seen = seen_[column];
  const std::string& name = table_.format.columns()[column];
  const bool told =
      std::ranges::any_of(options_.types, [&](const auto& type) { return type.first == name; });
  if (told || table_.types[column] != ListType::kFloat) return;
  if (!seen.beyond_float.empty()) {
    throw AtLine(Error(ErrorKind::kInvalidArgument,
                       format("column {} has the number {}, which is 0 or infinite as a float of "
                              "32 bits",
                              name, seen.beyond_float),
                       {}, "give the column a type: bytes keeps it as it is, float rounds it"),
                 options_.path, seen.beyond_float_line);
  }
  if (seen.too_large.empty()) return;
  throw AtLine(Error(ErrorKind::kInvalidArgument,
                     format("column {} has the whole number {}, which a float would round", name,
                            seen.too_large),
                     {}, "give the column a type: bytes keeps them as they are, float rounds them"),
               options_.path, seen.too_large_line);
}

void ListColumns::ApplyTypes() {
  seen_.resize(table_.format.columns().size());
  for (const Seen& seen : seen_) {
    table_.types.push_back(seen.any ? seen.type : ListType::kBytes);
  }
  for (const auto& [column, type] : options_.types) {
    ListType& known = table_.types[Column(column)];
    if (known > type) {
      throw AtLine(Error(ErrorKind::kInvalidArgument,
                         format("column {} has values that are not {}", column,
                                kTypeNames[static_cast<size_t>(type)]),
                         {}, "correct them, or give the column a wider type"),
                   options_.path, seen_[Column(column)].line);
    }
    known = type;
  }
}

size_t ListColumns::Column(const std::string& name) const {
  const auto found = FindAny(name);
  if (found) return *found;
  throw Error(ErrorKind::kInvalidArgument, format("has no column {}", name),
              {.path = options_.path}, "its columns are: " + JoinNames(table_.format.columns()));
}

// Finds the first of several names, separated by ';'.
std::optional<size_t> ListColumns::FindAny(const std::string& names) const {
  for (const std::string& name : SplitText(names, ';')) {
    if (const auto found = table_.format.Find(name)) return found;
  }
  return {};
}

std::optional<size_t> ListColumns::Mapped(const char* target, const char* usual) const {
  const auto rule = std::ranges::find(options_.fields, target, &FieldRule::target);
  if (rule != options_.fields.end()) return Column(rule->from);
  return table_.format.Find(usual);
}

// The target that stands for the file: a picture, or a sound where none is mapped.
const char* ListColumns::FileTarget() const {
  const bool picture = std::ranges::count(options_.fields, "image", &FieldRule::target) > 0;
  return picture || !std::ranges::count(options_.fields, "audio", &FieldRule::target) ? "image"
                                                                                      : "audio";
}

void ListColumns::Choose() {
  ApplyTypes();
  const auto path = Mapped(FileTarget(), "path");
  if (!path && table_.format.is_json()) Column("path");
  table_.path_column = path.value_or(0);
  table_.split_column = Mapped("split", "split");
  const bool label_wanted =
      options_.fields.empty() || std::ranges::count(options_.fields, "label", &FieldRule::target);
  if (label_wanted) table_.label_column = Mapped("label", "label");
  options_.fields.empty() ? UseOtherColumns() : UseMappedColumns();
  for (const ListFeature& feature : table_.features) {
    CheckName(feature.name);
    CheckNumbers(feature.column);
  }
  if (table_.label_column) CheckNumbers(*table_.label_column);
  CheckLabelType();
  table_.features_of.resize(table_.format.columns().size());
  for (size_t i = 0; i < table_.features.size(); ++i) {
    table_.features_of[table_.features[i].column].push_back(i);
  }
}

void ListColumns::UseOtherColumns() {
  for (size_t i = 0; i < table_.format.columns().size(); ++i) {
    if (i == table_.path_column || i == table_.label_column || i == table_.split_column) continue;
    table_.features.push_back({.name = table_.format.columns()[i], .column = i});
  }
}

void ListColumns::UseMappedColumns() {
  for (const FieldRule& rule : options_.fields) {
    if (rule.target == FileTarget() || rule.target == "label" || rule.target == "split") continue;
    table_.features.push_back({.name = rule.target, .column = Column(rule.from)});
  }
}

void ListColumns::CheckName(const std::string& name) const {
  for (const std::string_view used :
       {kImageEncoded, kImageFormat, kImageHeight, kImageWidth, kImageClassLabel, kImageClassText,
        kImageFilename, kAudioEncoded, kAudioFormat, kAudioRate, kAudioChannels, kAudioFrames,
        kAudioFilename, kLabelText}) {
    if (name != used) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("a column cannot be called {}: that feature is made from the file", name),
                {.path = options_.path}, "map it to another name");
  }
}

void ListColumns::CheckLabelType() const {
  if (!table_.label_column || table_.types[*table_.label_column] != ListType::kFloat) return;
  throw Error(ErrorKind::kInvalidArgument, "labels are neither whole numbers nor text",
              {.path = options_.path});
}

std::vector<std::pair<std::string, ListType>> ParseListTypes(std::string_view text) {
  std::vector<std::pair<std::string, ListType>> types;
  if (text.empty()) return types;
  for (const std::string& part : SplitText(text, ',')) {
    const size_t equals = std::min(part.rfind('='), part.size());
    const std::string column = part.substr(0, equals);
    const auto* const name =
        std::ranges::find(kTypeNames, part.substr(std::min(equals + 1, part.size())));
    const bool again =
        std::ranges::any_of(types, [&](const auto& type) { return type.first == column; });
    if (column.empty() || name == kTypeNames.end() || again) {
      throw Error(ErrorKind::kInvalidArgument,
                  format("cannot read the columns '{}': '{}' is {}", text, part,
                         again ? "given twice" : "not COLUMN=TYPE"),
                  {}, "write them as zip=bytes,score=float; types are int64, float and bytes");
    }
    types.emplace_back(column, static_cast<ListType>(name - kTypeNames.begin()));
  }
  return types;
}

}  // namespace recpack::pack
