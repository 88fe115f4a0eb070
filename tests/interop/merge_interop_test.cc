// SPDX-License-Identifier: Apache-2.0

// Goal: merges written by either engine are read, merged on and compacted by the other one, each
// with operators of its own, and by RocksDB's tools, which take theirs from the OPTIONS file.
// Method: random merges, puts and deletions by one built-in operator at a time, beside a fold of
// the same changes; the directory then goes back and forth (interop_test.cc), some of it only in
// the log.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/interop/programs.h"
#include "tests/interop/script.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const char* const kOurDriver = VARVE_DRIVER;
const char* const kTheirDriver = ROCKSDB_DRIVER;

using Base = std::optional<std::string>;

// Holds a built-in operator, as option text, and the effect of one operand of it.
struct Operator {
  const char* text;
  std::string (*apply)(const Base& base, const std::string& operand);
  bool numbers;  // operands and values are numbers of 8 bytes
};

std::string Append(const Base& base, const std::string& operand, const char* delimiter) {
  return base.has_value() ? *base + delimiter + operand : operand;
}

std::string AppendWithComma(const Base& base, const std::string& operand) {
  return Append(base, operand, ",");
}

std::string AppendWithBars(const Base& base, const std::string& operand) {
  return Append(base, operand, "||");
}

// Adds byte by byte, with a carry.
std::string Add(const Base& base, const std::string& operand) {
  std::string sum = base.value_or(std::string(8, '\0'));
  unsigned carry = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    carry += static_cast<unsigned char>(sum[i]) + static_cast<unsigned char>(operand[i]);
    sum[i] = static_cast<char>(carry & 255);
    carry >>= 8;
  }
  return sum;
}

std::string Larger(const Base& base, const std::string& operand) {
  return base.has_value() ? std::max(*base, operand) : operand;
}

std::string Newer(const Base& /*base*/, const std::string& operand) {
  return operand;
}

std::string Xor(const Base& base, const std::string& operand) {
  std::string merged = base.value_or("");
  merged.resize(std::max(merged.size(), operand.size()), '\0');
  for (size_t i = 0; i < operand.size(); ++i) {
    merged[i] = static_cast<char>(merged[i] ^ operand[i]);
  }
  return merged;
}

const Operator kOperators[] = {
    {"stringappend", AppendWithComma, false},
    {"{id=StringAppendOperator;delimiter=||}", AppendWithBars, false},
    {"stringappendtest", AppendWithComma, false},
    {"uint64add", Add, true},
    {"max", Larger, false},
    {"put", Newer, false},
    {"bytesxor", Xor, false},
};

std::string NumberedKey(uint64_t k) {
  return "key" + std::to_string(100000 + k);
}

// Moves one directory with one operator between the engines.
class MergeRun {
 public:
  MergeRun(const Operator& op, std::string work, uint64_t seed)
      : op_(op), work_(std::move(work)), directory_(work_ + "/db"), random_(seed) {
    fs::create_directories(work_);
    for (const char* family : {"default", "other"}) state_.families[family];
  }

  // Each step returns "" or the problem.
  std::string Write(const char* driver, bool kill) {
    Script script = Begin("create_if_missing=true;create_missing_column_families=true", "open");
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 250; ++i) Change(&script);
      // The last changes are only in the log.
      if (round == 3) break;
      for (const auto& [family, keys] : state_.families) script.Line("flush " + family);
      if (round == 0) script.Line("snapshot");
      if (round == 1) script.Line("compact default");
    }
    script.Line("release");
    script.Expect(state_);
    script.Line(kill ? "quit" : "close");
    return RunScript(driver, work_, script.text());
  }

  std::string Read(const char* driver, const char* open, bool compact) {
    Script script = Begin("-", open);
    script.Expect(state_);
    script.Line("checksums");
    if (compact) {
      for (const auto& [family, keys] : state_.families) script.Line("compact " + family);
      script.Line("check");
    }
    script.Line("close");
    return RunScript(driver, work_, script.text());
  }

  std::string CheckTools() { return CheckWithTools(directory_, state_); }

 private:
  Script Begin(const std::string& db_options, const std::string& open) {
    Script script(state_);
    script.Line("db " + db_options);
    for (const auto& [family, keys] : state_.families) {
      script.Line("family " + family + " merge_operator=" + op_.text);
    }
    script.Line(open + " " + directory_);
    return script;
  }

  std::string RandomValue() {
    if (!op_.numbers) return random_.Text(random_.Below(random_.OneIn(9) ? 3000 : 20));
    std::string number(8, '\0');
    for (char& c : number) c = static_cast<char>(random_.Below(256));
    return number;
  }

  void Change(Script* script) {
    const std::string family = random_.OneIn(3) ? "other" : "default";
    FamilyState& keys = state_.families[family];
    const std::string key = NumberedKey(random_.Below(120));
    const std::string place = family + " " + ToHex(key);
    const uint64_t dice = random_.Below(100);
    if (dice < 3) {
      const std::string end = NumberedKey(random_.Below(140));
      if (end < key) return;
      script->Line("range " + place + " " + ToHex(end));
      keys.erase(keys.lower_bound(key), keys.lower_bound(end));
    } else if (dice < 10) {
      script->Line("del " + place);
      keys.erase(key);
    } else if (dice < 22) {
      const std::string value = RandomValue();
      script->Line("put " + place + " " + ToHex(value));
      keys[key] = value;
    } else {
      const std::string operand = RandomValue();
      script->Line("merge " + place + " " + ToHex(operand));
      const auto found = keys.find(key);
      keys[key] = op_.apply(found == keys.end() ? Base() : Base(found->second), operand);
    }
  }

  const Operator& op_;
  const std::string work_;
  const std::string directory_;
  Random random_;
  ReferenceState state_;
};

// Exchanges both ways. Returns "" or the problem.
std::string Exchange(MergeRun* run, const char* writer, const char* reader, bool kill) {
  std::string problem = run->Write(writer, kill);
  if (problem.empty() && writer == kOurDriver) problem = run->CheckTools();
  if (problem.empty()) problem = run->Read(reader, "reader", /*compact=*/false);
  if (problem.empty()) problem = run->Read(reader, "open", /*compact=*/false);
  if (problem.empty()) problem = run->Read(writer, "open", /*compact=*/false);
  if (problem.empty()) problem = run->Write(reader, kill);
  if (problem.empty()) problem = run->Read(writer, "open", /*compact=*/true);
  if (problem.empty()) problem = run->Write(writer, kill);
  if (problem.empty()) problem = run->Read(reader, "open", /*compact=*/true);
  if (problem.empty()) problem = run->CheckTools();
  if (problem.empty()) problem = run->Read(writer, "reader", /*compact=*/false);
  return problem;
}

TEST(MergeInterop, MergesMoveBothWays) {
  if (!ProgramExists("ldb") || !ProgramExists("sst_dump")) {
    GTEST_SKIP() << "RocksDB's tools are not installed";
  }
  const char* const base = getenv("TEST_TMPDIR");
  const fs::path root = fs::path(base != nullptr ? base : fs::temp_directory_path().string()) /
                        ("varve_merge_interop_" + std::to_string(getpid()));
  uint64_t job = 0;
  for (const Operator& op : kOperators) {
    for (const bool ours_first : {true, false}) {
      for (const bool kill : {false, true}) {
        SCOPED_TRACE(std::string(op.text) + (ours_first ? ", ours first" : ", theirs first") +
                     (kill ? ", killed" : ""));
        MergeRun run(op, (root / std::to_string(job)).string(), job + 1);
        ++job;
        EXPECT_EQ(Exchange(&run, ours_first ? kOurDriver : kTheirDriver,
                           ours_first ? kTheirDriver : kOurDriver, kill),
                  "");
      }
    }
  }
  fs::remove_all(root);
}

}  // namespace
}  // namespace varve::testing
