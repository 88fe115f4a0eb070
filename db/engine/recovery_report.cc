// SPDX-License-Identifier: Apache-2.0
#include "db/engine/recovery_report.h"

#include "db/engine/prepared_transactions.h"

namespace varve {

std::vector<std::pair<std::string, std::string>> RecoveryReport::Fields() const {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto number = [&](const char* name, uint64_t value) {
    fields.emplace_back(name, std::to_string(value));
  };
  // Lists that are empty are left out, so that a clean opening gives a short line.
  const auto paths = [&](const char* name, const std::vector<std::string>& files) {
    std::string list;
    for (const std::string& file : files) list += (list.empty() ? "" : ",") + file;
    if (!list.empty()) fields.emplace_back(name, list);
  };
  number("logs_read", logs_read);
  number("records_replayed", records_replayed);
  number("bytes_replayed", bytes_replayed);
  number("dropped_bytes", dropped_bytes);
  number("synced_bytes_lost", synced_bytes_lost);
  number("last_sequence", last_sequence);
  number("manifest_micros", manifest_micros);
  number("logs_micros", logs_micros);
  number("install_micros", install_micros);
  number("micros", micros);
  if (!first_bad_file.empty()) {
    number("first_bad_log", first_bad_log);
    fields.emplace_back("first_bad_file", first_bad_file);
    number("first_bad_offset", first_bad_offset);
    fields.emplace_back("reason", first_bad_reason);
  }
  // Sequence numbers are given only if numbers are lost.
  if (last_lost_sequence != 0) {
    number("first_lost_sequence", first_lost_sequence);
    number("last_lost_sequence", last_lost_sequence);
  }
  paths("families_set_back", families_set_back);
  paths("tables_missing", tables_missing);
  paths("missing", files_missing);
  paths("set_aside", files_set_aside);
  paths("not_moved", files_not_moved);
  const auto names = [&](const char* name, std::vector<std::string> transactions) {
    for (std::string& one : transactions) one = ShownName(one);
    paths(name, transactions);
  };
  names("prepared", prepared_transactions);
  names("unknown_decisions", unknown_decisions);
  return fields;
}

std::string RecoveryReport::ToString() const {
  std::string text;
  for (const auto& [name, value] : Fields()) {
    const bool quoted = name == "reason";
    text += (text.empty() ? "" : " ") + name + "=" + (quoted ? "\"" + value + "\"" : value);
  }
  return text;
}

bool RecoveryReport::clean() const {
  return first_bad_file.empty() && synced_bytes_lost == 0 && last_lost_sequence == 0 &&
         families_set_back.empty() && tables_missing.empty() && files_missing.empty() &&
         files_set_aside.empty() && files_not_moved.empty();
}

}  // namespace varve
