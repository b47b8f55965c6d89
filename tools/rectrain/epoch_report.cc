#include "tools/rectrain/epoch_report.h"

#include "src/base/format.h"

namespace recpack::tool {
namespace {

nlohmann::json ToJson(const train::Score& score, bool accuracy) {
  nlohmann::json json = {{"loss", score.loss}, {"samples", score.samples}};
  if (accuracy) json["accuracy"] = score.accuracy;
  return json;
}

nlohmann::json ToJson(const train::TransferAccount& transfers) {
  return {{"calls", transfers.calls},
          {"bytes", transfers.bytes},
          {"seconds", transfers.seconds},
          {"average_seconds", transfers.average()},
          {"shortest_seconds", transfers.shortest},
          {"longest_seconds", transfers.longest}};
}

nlohmann::json ToJson(const AuditReport& audit) {
  return {{"holds", audit.holds},
          {"samples", audit.samples},
          {"epoch_samples", audit.epoch_samples},
          {"substituted", audit.substituted}};
}

std::string ToText(const train::Score& score, bool accuracy) {
  std::string text = format("loss {:.4f}", score.loss);
  if (accuracy) text += ", accuracy " + Percent(score.accuracy, 2);
  return text;
}

std::string ToText(const AuditReport& audit) {
  return format("{} of {} records, {} substituted: {}", audit.samples, audit.epoch_samples,
                audit.substituted, audit.holds ? "all is well" : "not what the epoch should hold");
}

}  // namespace

nlohmann::json EpochJson(const train::EpochReport& report, bool accuracy) {
  nlohmann::json json = {{"epoch", report.epoch},
                         {"steps", report.steps},
                         {"train", ToJson(report.train, accuracy)},
                         {"train_seconds", report.train_seconds},
                         {"input_wait_seconds", report.input_wait_seconds},
                         {"exchange",
                          {{"calls", report.exchange_calls},
                           {"bytes", report.exchange_bytes},
                           {"wait_seconds", report.exchange_wait_seconds}}},
                         {"transfers", ToJson(report.transfers)}};
  if (report.evaluation.samples > 0) {
    json["evaluation"] = ToJson(report.evaluation, accuracy);
    json["evaluation_seconds"] = report.evaluation_seconds;
  }
  if (report.audit) json["audit"] = ToJson(*report.audit);
  return json;
}

std::string EpochText(const train::EpochReport& report, bool trained, bool accuracy) {
  const double seconds = report.train_seconds;
  std::string line = format("epoch {}: ", report.epoch);
  if (trained) line += ToText(report.train, accuracy);
  if (report.evaluation.samples > 0) {
    line += "; evaluation: " + ToText(report.evaluation, accuracy);
  }
  line += format("{}{:.0f} samples/s, {} of it waiting for input", trained ? "; " : "",
                 static_cast<double>(report.train.samples) / seconds,
                 Percent(report.input_wait_seconds / seconds));
  if (report.exchange_calls > 0) {
    line += format(", {} for the exchange of variables",
                   Percent(report.exchange_wait_seconds / seconds));
  }
  if (const train::TransferAccount& transfers = report.transfers; transfers.calls > 0) {
    line += format(
        "; {} copies between devices, {:.1f} MB, took {} of it: {:.1f} us each, {:.1f} to "
        "{:.1f}",
        transfers.calls, static_cast<double>(transfers.bytes) / 1e6,
        Percent(transfers.seconds / seconds), 1e6 * transfers.average(), 1e6 * transfers.shortest,
        1e6 * transfers.longest);
  }
  if (report.audit) line += "; " + ToText(*report.audit);
  return line;
}

}  // namespace recpack::tool
