// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/findings.h"

#include <cstdlib>

#include "tools/varve/bytes_text.h"

namespace varve::tool {

namespace {

constexpr std::string_view kBeforeOffset = "offset ";

}  // namespace

void Findings::Damage(const std::string& file, const std::string& what) {
  damages_++;
  console_->found = true;
  Print("damage", file, what);
}

void Findings::Remark(const std::string& file, const std::string& what) {
  Print("remark", file, what);
}

void Findings::PrintSummary() {
  if (damages_ != 0) {
    Console::Note(
        "varve check: `varve repair DB` says what can be kept; a backup may have these files "
        "whole.");
  }
  if (console_->json) {
    Json json;
    json.BeginObject().Text("kind", "summary").Number("damages", damages_);
    json.Number("files", files_).Number("bytes", bytes_).EndObject();
    return console_->Line(&json);
  }
  console_->Line((damages_ == 0 ? "no damage" : std::to_string(damages_) + " damages") +
                 std::string(" in ") + std::to_string(files_) + " files of " + SizeText(bytes_));
}

void Findings::Print(const char* kind, const std::string& file, const std::string& what) {
  if (!console_->json) return console_->Line(std::string(kind) + ": " + file + ": " + what);
  Json json;
  json.BeginObject().Text("kind", kind).Text("file", file).Text("what", what);
  const size_t at = what.find(kBeforeOffset);
  // Texts of damage name their offset in words; a program that reads the JSON gets it as a number.
  if (at != std::string::npos) {
    json.Number("offset", std::strtoull(what.c_str() + at + kBeforeOffset.size(), nullptr, 10));
  }
  json.EndObject();
  console_->Line(&json);
}

}  // namespace varve::tool
