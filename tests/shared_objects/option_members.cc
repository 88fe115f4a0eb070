// SPDX-License-Identifier: Apache-2.0
#include "tests/shared_objects/option_members.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

namespace varve::testing {

namespace {

using Lines = std::vector<std::string>;

Lines LinesOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  Lines lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line.substr(0, line.find("//")));
  }
  return lines;
}

// Returns types that stand for shared pointers, or vectors of them: "using Name = ...;", over
// several lines.
std::set<std::string> AliasesIn(const Lines& lines) {
  static const std::regex kAlias(R"(^ *using (\w+) =(.*)$)");
  std::set<std::string> aliases;
  for (size_t i = 0; i < lines.size(); i++) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, kAlias)) continue;
    std::string type = match[2];
    for (size_t j = i; type.find(';') == std::string::npos && j + 1 < lines.size(); j++) {
      type += lines[j + 1];
    }
    if (type.find("shared_ptr<") != std::string::npos) aliases.insert(match[1]);
  }
  return aliases;
}

// Returns the member that the line declares if it shares an object, else an empty text.
std::string MemberIn(const std::string& line, const std::set<std::string>& aliases) {
  static const std::regex kShared(R"(^  std::[^()=;]*shared_ptr<[^()=;]*> (\w+)( = [^;]*)?;.*$)");
  static const std::regex kNamed(R"(^  (\w+) (\w+);.*$)");
  static const std::regex kPointer(R"(^  (?:const )?([A-Z]\w+)\* (\w+)( = [^;]*)?;.*$)");
  static const std::set<std::string> kOfOneCall = {"Slice", "Snapshot"};
  std::smatch match;
  if (std::regex_match(line, match, kShared)) return match[1];
  if (std::regex_match(line, match, kNamed) && aliases.contains(match[1])) return match[2];
  if (std::regex_match(line, match, kPointer) && !kOfOneCall.contains(match[1])) return match[2];
  return "";
}

}  // namespace

std::set<std::string> SharedMembers(const std::string& include_dir) {
  static const std::regex kStruct(R"(^(?:struct|class) (?:VARVE_EXPORT )?(\w*Options)\b.*\{$)");
  std::set<std::string> members;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(include_dir)) {
    if (entry.path().extension() != ".h") continue;
    const Lines lines = LinesOf(entry.path());
    const std::set<std::string> aliases = AliasesIn(lines);
    std::string owner;
    for (const std::string& line : lines) {
      std::smatch match;
      if (std::regex_match(line, match, kStruct)) owner = match[1];
      if (line.starts_with("}")) owner.clear();
      if (owner.empty()) continue;
      const std::string member = MemberIn(line, aliases);
      if (!member.empty()) members.insert(std::string(owner).append("::").append(member));
    }
  }
  return members;
}

}  // namespace varve::testing
