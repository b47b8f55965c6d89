#include "src/remote/store/write_answers.h"

#include "src/remote/http/xml.h"

namespace recpack::remote {

std::string RefuseConflict(const Exchange& exchange) {
  return exchange.status() == 409 ? "the object is written by another request" : "";
}

std::string RefuseLateError(const Exchange& exchange) {
  if (!exchange.ok()) return RefuseConflict(exchange);
  const std::string code = FirstElement(exchange.text(), "Code");
  return code.empty() ? "" : code + " (" + FirstElement(exchange.text(), "Message") + ")";
}

}  // namespace recpack::remote
