// SPDX-License-Identifier: Apache-2.0

// Formats the report of a repair as text.

#include "varve/utilities/repair.h"

namespace varve {

namespace {

// Appends a line for each table; `what` is the action of the repair.
void AddTables(const char* what, const std::vector<RepairReport::Table>& tables,
               std::string* text) {
  for (const RepairReport::Table& table : tables) {
    *text += std::string(what) + " " + table.name;
    if (!table.family.empty()) *text += " of column family " + table.family;
    *text += ": " + std::to_string(table.entries) + " entries";
    if (table.lost_blocks > 0) {
      *text += ", " + std::to_string(table.lost_blocks) + " blocks of " +
               std::to_string(table.lost_bytes) + " bytes lost";
    }
    if (!table.reason.empty()) *text += " (" + table.reason + ")";
    *text += "\n";
  }
}

}  // namespace

std::string RepairReport::ToString() const {
  if (healthy) return "healthy: nothing to repair\n";
  std::string text = manifest.empty() ? "no MANIFEST" : manifest;
  text += manifest_damage.empty() ? ": whole" : ": " + manifest_damage;
  text += "\nkept: " + std::to_string(kept.size()) + " tables as they are\n";
  AddTables("copied", copied, &text);
  AddTables("lost", lost, &text);
  AddTables("unexplained", unexplained, &text);
  for (const Log& log : logs) {
    text += "log " + log.name + ": " + std::to_string(log.records) + " records";
    if (!log.reason.empty()) {
      text += ", " + std::to_string(log.dropped_bytes) + " bytes dropped (" + log.reason + ")";
    }
    text += "\n";
  }
  for (const std::string& family : reordered) text += "merged column family " + family + "\n";
  for (const std::string& path : set_aside) text += "set aside " + path + "\n";
  return text;
}

}  // namespace varve
