// SPDX-License-Identifier: Apache-2.0

// fuzz_all: runs every target on seeds, stored inputs and damaged copies of both, from one seed,
// with any compiler.
//
//   fuzz_all                  VARVE_FUZZ_RUNS executions, shared out among the targets
//   fuzz_all <target>         of this target alone
//   fuzz_all <target> FILE... the inputs in these files, once each
//   fuzz_all --write-seeds D  the seeds, as D/<target>/<number>: corpora for libFuzzer
//
// VARVE_FUZZ_RUNS (default 1,000,000), VARVE_FUZZ_SEED (default 1). The last line counts; the run
// fails if there were fewer executions than asked for.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/watch.h"
#include "tests/harness/environment.h"
#include "tests/harness/source_root.h"

namespace varve::fuzz {
namespace {

constexpr uint64_t kRuns = 500000;
constexpr size_t kInputMost = 1 << 16;
constexpr size_t kPoolMost = 400;
constexpr int kHangSeconds = 20;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Copies the input into memory of exactly its size, so that a sanitizer sees a read beyond the end.
void Execute(const Target& target, const std::string& input) {
  const std::unique_ptr<uint8_t[]> bytes(new uint8_t[input.size()]);
  if (!input.empty()) std::memcpy(bytes.get(), input.data(), input.size());
  Noted().clear();
  WatchExecution(target.name, bytes.get(), input.size());
  target.run(bytes.get(), input.size());
}

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns inputs that were findings once, or that no encoder of ours makes.
Seeds StoredInputs(const Target& target) {
  Seeds inputs;
  const std::filesystem::path folder =
      std::filesystem::path(varve::testing::SourceRoot()) / "tests/fuzz/corpus" / target.name;
  if (!std::filesystem::exists(folder)) return inputs;
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.insert(entry.path());
  for (const auto& path : paths) inputs.push_back(ReadWhole(path));
  return inputs;
}

class TargetRun {
 public:
  TargetRun(const Target& target, uint64_t seed)
      : target_(target), mutator_(seed ^ std::hash<std::string>()(target.name)) {
    target.make_seeds(&pool_);
    Promise(!pool_.empty(), "every target has seeds");
    const Seeds stored = StoredInputs(target);
    pool_.insert(pool_.end(), stored.begin(), stored.end());
    seeds_ = pool_.size();
  }

  void Run(uint64_t executions) {
    const auto start = Clock::now();
    AcceptedCount() = 0;
    for (uint64_t i = 0; i < executions; i++) {
      if (i < seeds_) {
        Execute(target_, pool_[i]);
        NoteFeatures();
      } else {
        RunMutant();
      }
    }
    std::printf("%-20s %8llu executions in %5.1f s, %zu seeds, %zu features, %llu accepted\n",
                target_.name, static_cast<unsigned long long>(executions), SecondsSince(start),
                seeds_, features_.size(), static_cast<unsigned long long>(AcceptedCount()));
    std::fflush(stdout);
  }

 private:
  bool NoteFeatures() {
    bool any_new = false;
    for (const uint64_t feature : Noted()) any_new |= features_.insert(feature).second;
    return any_new;
  }

  void RunMutant() {
    testing::Random& random = mutator_.random();
    const std::string& base = pool_[random.Below(random.OneIn(2) ? seeds_ : pool_.size())];
    const std::string& other = pool_[random.Below(pool_.size())];
    std::string mutant = mutator_.Mutate(base, other, kInputMost);
    Execute(target_, mutant);
    if (!NoteFeatures()) return;
    if (pool_.size() < kPoolMost) {
      pool_.push_back(std::move(mutant));
    } else {
      pool_[seeds_ + random.Below(pool_.size() - seeds_)] = std::move(mutant);
    }
  }

  const Target& target_;
  Mutator mutator_;
  Seeds pool_;
  size_t seeds_ = 0;
  std::set<uint64_t> features_;
};

int WriteSeeds(const std::filesystem::path& folder) {
  for (const Target& target : Targets()) {
    Seeds seeds;
    target.make_seeds(&seeds);
    std::filesystem::create_directories(folder / target.name);
    for (size_t i = 0; i < seeds.size(); i++) {
      std::ofstream(folder / target.name / std::to_string(i), std::ios::binary) << seeds[i];
    }
  }
  return 0;
}

int Replay(const Target& target, int count, char** files) {
  for (int i = 0; i < count; i++) Execute(target, ReadWhole(files[i]));
  std::printf("RESULT fuzz cases=%d wrong=0 lost=0 crash=0 hang=0\n", count);
  return 0;
}

// Shares out `runs`. Each target runs at least once; the remainder goes to the first.
int RunAll(const std::vector<Target>& targets, uint64_t runs, uint64_t seed) {
  const auto start = Clock::now();
  uint64_t shares = 0;
  for (const Target& target : targets) shares += target.share;
  uint64_t done = 0;
  for (size_t i = targets.size(); i-- > 0;) {
    uint64_t part = std::max<uint64_t>(1, runs * targets[i].share / shares);
    if (i == 0) part = std::max(part, runs - std::min(runs, done));
    TargetRun(targets[i], seed).Run(part);
    done += part;
  }
  std::printf("RESULT fuzz cases=%llu wrong=0 lost=0 crash=0 hang=0 seed=%llu secs=%.0f\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(seed),
              SecondsSince(start));
  return done >= runs && !targets.empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  const uint64_t seed = testing::NumberFromEnvironment("VARVE_FUZZ_SEED", 1 + testing::Rotation());
  std::vector<Target>& targets = Targets();
  std::ranges::sort(targets, {}, [](const Target& t) { return std::string_view(t.name); });
  if (argc == 3 && std::strcmp(argv[1], "--write-seeds") == 0) return WriteSeeds(argv[2]);
  StartWatch(seed, kHangSeconds);
  if (argc > 1) {
    std::erase_if(targets, [&](const Target& t) { return std::strcmp(t.name, argv[1]) != 0; });
    if (targets.empty()) {
      std::fprintf(stderr, "fuzz_all: there is no target '%s'\n", argv[1]);
      return 1;
    }
    if (argc > 2) return Replay(targets[0], argc - 2, argv + 2);
  }
  return RunAll(targets, testing::NumberFromEnvironment("VARVE_FUZZ_RUNS", kRuns), seed);
}

}  // namespace
}  // namespace varve::fuzz

int main(int argc, char** argv) {
  return varve::fuzz::Main(argc, argv);
}
