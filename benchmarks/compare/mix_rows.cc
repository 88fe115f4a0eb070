// SPDX-License-Identifier: Apache-2.0

// Runs the mixes A to F of YCSB: four threads, keys by Zipf's distribution, values of 1,000 bytes,
// a block cache of 8 MiB.

#include <algorithm>
#include <memory>
#include <string>

#include "benchmarks/compare/data_sets.h"
#include "benchmarks/compare/row.h"

namespace compare {
namespace {

constexpr int kThreads = 4;
constexpr uint64_t kLongestScan = 100;
constexpr size_t kMixCacheBytes = size_t{8} << 20;

struct Mix {
  const char* name;
  double reads;
  double updates;
  double inserts;
  double scans;          // from a drawn key, of 1 to 100 entries
  double changes;        // a value read, and written anew
  bool prefers_the_new;  // reads prefer recently inserted keys
};

constexpr Mix kMixes[] = {
    {"a", 0.5, 0.5, 0, 0, 0, false},   {"b", 0.95, 0.05, 0, 0, 0, false},
    {"c", 1, 0, 0, 0, 0, false},       {"d", 0.95, 0, 0.05, 0, 0, true},
    {"e", 0, 0, 0.05, 0.95, 0, false}, {"f", 0.5, 0, 0, 0, 0.5, false},
};

// Does one thread's part. No other thread reads what it inserts, so answers depend on no race.
class Client {
 public:
  Client(const Mix& mix, const Zipfian& popularity, uint64_t keys, int thread, uint64_t seed)
      : mix_(mix),
        popularity_(popularity),
        keys_(keys),
        first_insert_(keys * (static_cast<uint64_t>(thread) + 2)),
        random_(seed + static_cast<uint64_t>(thread)),
        values_(kLargeValueSize) {}

  void DoOne(Session* session, Digest* digest) {
    version_++;
    double at = random_.Share();
    if ((at -= mix_.reads) < 0) {
      session->Get(KeyOf(Choose()).view(), digest);
    } else if ((at -= mix_.updates) < 0) {
      Write(session, Choose());
    } else if ((at -= mix_.inserts) < 0) {
      Write(session, first_insert_ + inserts_++);
    } else if ((at -= mix_.scans) < 0) {
      // Only stamps count, as other threads may insert after the first entry.
      Digest scan(Digest::Covers::kStamps);
      session->Scan(KeyOf(Choose()).view(), 1 + random_.Below(kLongestScan), true, &scan);
      digest->Add(scan.first_stamp());
    } else {
      const uint64_t number = Choose();
      session->Get(KeyOf(number).view(), digest);
      Write(session, number);
    }
  }

 private:
  static Key KeyOf(uint64_t number) { return Key(Scramble(number)); }

  // Returns the number of a key that is there. With prefers_the_new, rank 0 is what this thread
  // inserted last, and the keys of the data set follow, the greatest number first.
  uint64_t Choose() {
    const uint64_t rank = popularity_.Rank(&random_);
    if (!mix_.prefers_the_new) return Scramble(rank) % keys_;
    return rank < inserts_ ? first_insert_ + inserts_ - 1 - rank
                           : keys_ - 1 - std::min(rank - inserts_, keys_ - 1);
  }
  void Write(Session* session, uint64_t number) {
    session->Put(KeyOf(number).view(), values_.Of(number, version_), Durability::kLogged);
  }

  const Mix& mix_;
  const Zipfian& popularity_;
  const uint64_t keys_;
  const uint64_t first_insert_;  // each thread inserts into a range of numbers of its own
  uint64_t inserts_ = 0;
  uint64_t version_ = 0;
  Random random_;
  Values values_;
};

void RunMix(Run* run, const Mix& mix) {
  Settings settings = run->settings();
  settings.cache_bytes = kMixCacheBytes;
  run->engine().Open(run->path(), settings);
  const uint64_t keys = YcsbKeys(run->scale());
  const Zipfian popularity(keys);
  const uint64_t operations = mix.scans > 0 ? run->scale().n / 20 : run->scale().n * 3 / 10;
  const uint64_t share = std::max<uint64_t>(operations / kThreads, 1);
  const double seconds = InThreads(
      run, kThreads, Digest::Covers::kStamps, [&](int thread, Session* session, Digest* digest) {
        Client client(mix, popularity, keys, thread, run->scale().seed);
        for (uint64_t i = 0; i < share; i++) client.DoOne(session, digest);
      });
  run->ReportRate(static_cast<double>(share) * kThreads, seconds);
  run->ReadBack(Digest::Covers::kStamps);
  run->engine().Close();
}

}  // namespace

std::vector<Row> MixRows() {
  std::vector<Row> rows;
  for (const Mix& mix : kMixes) {
    rows.push_back(
        {std::string("ycsb/") + mix.name, kYcsb, {}, [&mix](Run* run) { RunMix(run, mix); }});
  }
  return rows;
}

}  // namespace compare
