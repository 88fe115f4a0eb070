// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/programs.h"

#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/interop/script.h"

namespace varve::testing {

namespace {

constexpr size_t kShownOutput = 1500;
constexpr size_t kReadsAFamily = 2;

std::string Shown(const std::string& output) {
  return output.size() <= kShownOutput ? output : output.substr(0, kShownOutput) + "...";
}

std::string Failed(const std::string& command, int exit_code, const std::string& output) {
  return command + ": exit " + std::to_string(exit_code) + ": " + Shown(output);
}

std::string PlainHex(const std::string& bytes) {
  return "0x" + (bytes.empty() ? "" : ToHex(bytes));
}

// Returns "" if the program ends with 0 and prints `wanted`.
std::string Demand(const std::string& command, const std::string& wanted) {
  int exit_code = 0;
  const std::string output = RunProgram(command, &exit_code);
  if (exit_code != 0 || output.find(wanted) == std::string::npos) {
    return Failed(command, exit_code, output);
  }
  return "";
}

std::string CompareScan(const std::string& ldb, const std::string& family,
                        const FamilyState& state) {
  const std::string command = ldb + " --hex --column_family=" + family + " scan";
  int exit_code = 0;
  const std::string output = RunProgram(command, &exit_code);
  if (exit_code != 0) return Failed(command, exit_code, output);
  std::istringstream lines(output);
  std::string line;
  for (const auto& [key, value] : state) {
    const std::string wanted = PlainHex(key) + " : " + PlainHex(value);
    if (!std::getline(lines, line) || line != wanted) {
      return command + ": found " + Shown(line) + ", expected " + Shown(wanted);
    }
  }
  if (std::getline(lines, line)) return command + ": one too many: " + Shown(line);
  return "";
}

std::string CompareReads(const std::string& ldb, const std::string& family,
                         const FamilyState& state) {
  const std::string get = ldb + " --hex --column_family=" + family + " get ";
  const size_t step = state.size() / kReadsAFamily + 1;
  size_t i = 0;
  for (const auto& [key, value] : state) {
    if (i++ % step != step / 2 || key.empty()) continue;
    const std::string problem = Demand(get + PlainHex(key), PlainHex(value) + "\n");
    if (!problem.empty()) return problem;
  }
  int exit_code = 0;
  const std::string output = RunProgram(get + PlainHex("key99999x"), &exit_code);
  return exit_code == 1 && output.find("NotFound") != std::string::npos
             ? ""
             : Failed(get + "(absent)", exit_code, output);
}

size_t Count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

std::string CheckTables(const std::string& directory) {
  const size_t tables = FilesNamed(directory, ".sst").size();
  if (tables == 0) return "";
  const std::string dump = "sst_dump --file=" + directory;
  int exit_code = 0;
  std::string output = RunProgram(dump + " --command=verify", &exit_code);
  if (exit_code != 0 || Count(output, "The file is ok") != tables) {
    return Failed("sst_dump verify", exit_code, output);
  }
  output = RunProgram(dump + " --command=check --verify_checksum", &exit_code);
  if (exit_code != 0 || Count(output, "orruption") != 0) {
    return Failed("sst_dump check", exit_code, output);
  }
  return "";
}

}  // namespace

std::string RunProgram(const std::string& command, int* exit_code) {
  std::string output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    *exit_code = -1;
    return "cannot run " + command;
  }
  std::array<char, 16384> buffer;
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
  const int status = pclose(pipe);
  *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

bool ProgramExists(const std::string& name) {
  int exit_code = 0;
  (void)RunProgram("command -v " + name, &exit_code);
  return exit_code == 0;
}

std::string RunScript(const std::string& driver, const std::string& work, const std::string& text) {
  static std::atomic<int> counter{0};
  const std::string path =
      work + "/script" + std::to_string(counter.fetch_add(1, std::memory_order_relaxed));
  std::ofstream(path, std::ios::binary) << text;
  int exit_code = 0;
  const std::string output = RunProgram(driver + " " + path, &exit_code);
  if (exit_code != 0) {
    return std::filesystem::path(driver).filename().string() + " " + path + ": exit " +
           std::to_string(exit_code) + ": " + Shown(output);
  }
  std::filesystem::remove(path);
  return "";
}

std::vector<std::string> FilesNamed(const std::string& directory, const std::string& affix) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(affix) || name.ends_with(affix)) files.push_back(entry.path().string());
  }
  return files;
}

std::string CheckWithTools(const std::string& directory, const ReferenceState& state) {
  const std::string ldb = "ldb --db=" + directory;
  std::string problem = Demand(ldb + " checkconsistency", "OK");
  if (problem.empty()) problem = Demand(ldb + " --try_load_options checkconsistency", "OK");
  for (const auto& [family, keys] : state.families) {
    if (problem.empty()) problem = CompareScan(ldb, family, keys);
    if (problem.empty()) problem = CompareReads(ldb, family, keys);
    if (problem.empty()) {
      problem = Demand(ldb + " list_column_families", family);
    }
  }
  for (const std::string& manifest : FilesNamed(directory, "MANIFEST-")) {
    if (problem.empty()) {
      problem = Demand("ldb manifest_dump --verbose --hex --path=" + manifest, "Column family");
    }
  }
  for (const std::string& log : FilesNamed(directory, ".log")) {
    if (problem.empty()) problem = Demand("ldb dump_wal --header --walfile=" + log, "Sequence");
  }
  if (problem.empty())
    problem = Demand(ldb + " --hex idump --count_only", "Internal keys in range");
  if (problem.empty()) problem = CheckTables(directory);
  return problem;
}

}  // namespace varve::testing
