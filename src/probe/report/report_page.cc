#include <string_view>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/probe/report/report.h"
#include "src/probe/util/embedded_file.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {
namespace {

std::string_view PageFile(std::string_view name) {
  for (const EmbeddedFile& file : ReportPageFiles()) {
    if (file.path == name) return file.text;
  }
  throw Error(ErrorKind::kNotFound, "this build lacks this part of the page",
              {.path = std::string(name)});
}

// Escapes JSON so that an HTML parser finds no end of the script in it: "</script>", "<!--", "]]>".
std::string JsonInScript(std::string_view json) {
  std::string escaped;
  for (const char c : json) {
    if (c == '<') {
      escaped += "\\u003c";
    } else if (c == '>') {
      escaped += "\\u003e";
    } else if (c == '&') {
      escaped += "\\u0026";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string ReportPage(const Report& report) {
  std::string page;
  std::string_view left = PageFile("report.html");
  while (!left.empty()) {
    const size_t begin = left.find("{{");
    page += left.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const size_t end = left.find("}}", begin);
    const std::string_view name = left.substr(begin + 2, end - begin - 2);
    if (name == "data") {
      page += JsonInScript(ReportJson(report));
    } else if (name == "title") {
      page += EscapedMarkup(report.job.name);
    } else if (name == "verdict") {
      page += EscapedMarkup(VerdictText(report.verdict));
    } else {
      page += PageFile(name);
    }
    left.remove_prefix(end + 2);
  }
  return page;
}

}  // namespace recpack::probe
