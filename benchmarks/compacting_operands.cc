// SPDX-License-Identifier: Apache-2.0

// Measures compacting merge operands beside plain values of the same size:
//
//   compacting_operands [--db=DIR] [--num=10000000] [--value=100] [--rounds=3] [--compression=N]
//                       [--only=KIND]
//
// Fills L0 with `num` entries in random order, in eight tables, and compacts them in one go, for
// each kind of database in turn (with --only, for that one), `rounds` times:
//   values    one value a key
//   one       one operand a key
//   ten       ten operands a key
//   "one, never partly", "ten, never partly"
//             the same with an operator that cannot merge partly
// and each of them into the last level, where operands become values, and into the one before, with
// something beneath that may hold every key. There an operator that can merge partly makes one
// operand of many, and one that cannot leaves all as they are.
//
// Prints medians: microseconds of compaction for each entry, of wall-clock and of processor time,
// and the ratio to `values` if these were measured, too.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/merge_operator.h"
#include "varve/metadata.h"
#include "varve/write_batch.h"

namespace {

constexpr uint64_t kTables = 8;
constexpr uint64_t kFewestEntries = 10;  // a key with ten operands, and an entry for each table
constexpr int kLastLevel = 6;

struct Arguments {
  std::string db = "/tmp/compacting-operands";
  uint64_t num = 10'000'000;
  uint64_t value = 100;
  uint64_t rounds = 3;
  uint64_t compression = 0;  // value of CompressionType
  std::string only;
};

struct Kind {
  const char* name;
  bool merges;
  uint64_t operands_per_key;
  bool partial;
};

constexpr Kind kKinds[] = {{"values", false, 1, false},
                           {"one", true, 1, true},
                           {"one, never partly", true, 1, false},
                           {"ten", true, 10, true},
                           {"ten, never partly", true, 10, false}};

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; i++) {
    const std::string text = argv[i];
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return false;
    const std::string name = text.substr(0, equals);
    const std::string value = text.substr(equals + 1);
    if (name == "--db") {
      arguments->db = value;
      continue;
    }
    if (name == "--only") {
      arguments->only = value;
      if (std::none_of(std::begin(kKinds), std::end(kKinds),
                       [&value](const Kind& kind) { return value == kind.name; })) {
        return false;
      }
      continue;
    }
    const std::map<std::string, uint64_t*> numbers = {{"--num", &arguments->num},
                                                      {"--value", &arguments->value},
                                                      {"--rounds", &arguments->rounds},
                                                      {"--compression", &arguments->compression}};
    const auto number = numbers.find(name);
    if (number == numbers.end()) return false;
    *number->second = std::strtoull(value.c_str(), nullptr, 10);
  }
  return arguments->num >= kFewestEntries && arguments->num < 2147483648 && arguments->rounds > 0;
}

// Joins operands with commas.
class Append final : public varve::MergeOperator {
 public:
  explicit Append(bool partial) : partial_(partial) {}
  const char* Name() const override { return "append"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list.front();
      return true;
    }
    if (in.existing_value != nullptr) {
      out->new_value.assign(in.existing_value->data(), in.existing_value->size());
    }
    for (const varve::Slice& operand : in.operand_list) {
      if (!out->new_value.empty()) out->new_value.push_back(',');
      out->new_value.append(operand.data(), operand.size());
    }
    return true;
  }
  bool PartialMergeMulti(const varve::Slice&, const std::deque<varve::Slice>& operands,
                         std::string* result, varve::Logger*) const override {
    if (!partial_) return false;
    for (const varve::Slice& operand : operands) {
      if (!result->empty()) result->push_back(',');
      result->append(operand.data(), operand.size());
    }
    return true;
  }

 private:
  const bool partial_;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string KeyOf(uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%016llu", static_cast<unsigned long long>(number));
  return std::string(text, 16);
}

// Returns a step by which a walk modulo n visits each number of [0, n) once in n steps and looks
// random: the golden section of n, or a little more.
uint64_t StepThrough(uint64_t n) {
  auto step = static_cast<uint64_t>(static_cast<double>(n) * 0.618033988749895) + 1;
  while (std::gcd(step, n) != 1) step++;
  return step;
}

struct Cost {
  double wall = 0;
  double cpu = 0;
};

class Run {
 public:
  Run(const Arguments& arguments, const Kind& kind, bool last)
      : arguments_(arguments), kind_(kind), last_(last) {}

  varve::Status Measure(Cost* cost) {
    varve::Status s = Open();
    if (s.ok() && !last_) s = CoverBeneath();
    if (s.ok()) s = Fill();
    if (s.ok()) s = Compact(cost);
    db_.reset();
    varve::DestroyDB(arguments_.db, options_).PermitUncheckedError();
    return s;
  }

 private:
  varve::Status Open() {
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.level0_slowdown_writes_trigger = 9999;
    options_.level0_stop_writes_trigger = 9999;
    options_.write_buffer_size = size_t{8} << 30;
    options_.compression = static_cast<varve::CompressionType>(arguments_.compression);
    if (kind_.merges) options_.merge_operator = std::make_shared<Append>(kind_.partial);
    varve::DestroyDB(arguments_.db, options_).PermitUncheckedError();
    return varve::DB::Open(options_, arguments_.db, &db_);
  }

  // Puts the first and the last key into one table of the last level.
  varve::Status CoverBeneath() {
    varve::Status s = db_->Put(varve::WriteOptions(), "", "first");
    if (s.ok()) s = db_->Put(varve::WriteOptions(), "~", "last");
    if (s.ok()) s = db_->Flush(varve::FlushOptions());
    return s.ok() ? CompactInto(kLastLevel) : s;
  }

  varve::Status Fill() {
    const uint64_t keys = arguments_.num / kind_.operands_per_key;
    const uint64_t step = StepThrough(keys);
    varve::WriteOptions unlogged;
    unlogged.disableWAL = true;
    std::string value(arguments_.value, 'v');
    varve::WriteBatch batch;
    varve::Status s;
    for (uint64_t i = 0; i < arguments_.num && s.ok(); i++) {
      const std::string key = KeyOf(i * step % keys);
      std::memcpy(value.data(), &i, std::min(value.size(), sizeof(i)));
      s = kind_.merges ? batch.Merge(key, value) : batch.Put(key, value);
      const bool table_full = (i + 1) % (arguments_.num / kTables) == 0;
      if (s.ok() && (batch.Count() == 1000 || table_full)) {
        s = db_->Write(unlogged, &batch);
        batch.Clear();
      }
      if (s.ok() && table_full) s = db_->Flush(varve::FlushOptions());
    }
    return s;
  }

  varve::Status CompactInto(int level) {
    varve::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::vector<std::string> files;
    for (const varve::SstFileMetaData& file : meta.levels.front().files) files.push_back(file.name);
    return db_->CompactFiles(varve::CompactionOptions(), files, level);
  }

  varve::Status Compact(Cost* cost) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu = CpuSeconds();
    const varve::Status s = CompactInto(last_ ? kLastLevel : kLastLevel - 1);
    const std::chrono::duration<double, std::micro> wall = std::chrono::steady_clock::now() - start;
    const auto entries = static_cast<double>(arguments_.num);
    cost->wall = wall.count() / entries;
    cost->cpu = (CpuSeconds() - cpu) * 1e6 / entries;
    return s;
  }

  const Arguments& arguments_;
  const Kind& kind_;
  const bool last_;
  varve::Options options_;
  std::unique_ptr<varve::DB> db_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int MeasureAll(const Arguments& arguments, bool last) {
  constexpr size_t kCount = std::size(kKinds);
  std::vector<double> wall[kCount];
  std::vector<double> cpu[kCount];
  const auto wanted = [&arguments](size_t i) {
    return arguments.only.empty() || arguments.only == kKinds[i].name;
  };
  for (uint64_t round = 0; round < arguments.rounds; round++) {
    for (size_t i = 0; i < kCount; i++) {
      if (!wanted(i)) continue;
      Cost cost;
      const varve::Status s = Run(arguments, kKinds[i], last).Measure(&cost);
      if (!s.ok()) {
        std::fprintf(stderr, "%s: %s\n", kKinds[i].name, s.ToString().c_str());
        return 1;
      }
      wall[i].push_back(cost.wall);
      cpu[i].push_back(cost.cpu);
    }
  }
  std::printf("into the %s level\n", last ? "last" : "last but one");
  for (size_t i = 0; i < kCount; i++) {
    if (!wanted(i)) continue;
    std::printf("  %-20s %6.3f us  %6.3f us CPU", kKinds[i].name, Median(wall[i]), Median(cpu[i]));
    if (wanted(0)) {
      std::printf("  ratio %.2f, CPU %.2f", Median(wall[i]) / Median(wall[0]),
                  Median(cpu[i]) / Median(cpu[0]));
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr,
                 "usage: compacting_operands [--db=DIR] [--num=N] [--value=BYTES] [--rounds=N] "
                 "[--compression=N] [--only=KIND]\n");
    return 2;
  }
  const int last = MeasureAll(arguments, /*last=*/true);
  return last != 0 ? last : MeasureAll(arguments, /*last=*/false);
}
