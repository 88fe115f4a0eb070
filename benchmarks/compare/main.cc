// SPDX-License-Identifier: Apache-2.0

// compare runs the same work through the C API on this engine and on every other that is found or
// named, in turn, in one run. See benchmarks/README.md.

#include <gflags/gflags.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/compare/child.h"
#include "benchmarks/compare/peers.h"
#include "benchmarks/compare/report.h"
#include "benchmarks/compare/results.h"
#include "benchmarks/compare/row.h"

DEFINE_string(varve, "", "Our librocksdb.so; empty: the one of this build");
DEFINE_string(peer, "",
              "Libraries to compare with, by path, commas between them: librocksdb, libleveldb, "
              "liblmdb; none: no others; empty: those in build/peers (see tools/peers), else the "
              "system's");
DEFINE_string(only, "", "Rows, by name or first parts of it, commas between them; empty: all");
DEFINE_string(set, "",
              "Rows of a subject at a scale that takes few minutes: styles or values; --only and "
              "--n still count");
DEFINE_int32(rounds, 3, "Processes a row and library, in turn");
DEFINE_uint64(n, 1'000'000, "Keys of the usual data set");
DEFINE_double(seconds, 30, "That rows of latencies last");
DEFINE_uint64(seed, 42, "Of all draws");
DEFINE_string(compression, "none", "none, or lz4 (Snappy for LevelDB)");
DEFINE_string(dir, "", "Folder for databases; empty: /dev/shm, or that of temporary files");
DEFINE_string(disk_dir, "",
              "Folder on a disk for the rows that ask for one; empty: that of this build");
DEFINE_bool(quick, false, "A first look in two minutes: small data, one round");
DEFINE_string(csv, "", "Also write the figures here");
DEFINE_string(chart, "", "Also draw them here (.svg, .png or .pdf), with tools/chart");
DEFINE_string(markdown, "", "Also write them here as Markdown, between marks if the file has them");
DEFINE_bool(list, false, "Print the names of the rows, and do nothing");
DEFINE_bool(allow_unfit, false,
            "Run libraries built with assertions, too: their answers count, their speed does not");
DEFINE_bool(one_process, false,
            "One process a library, for tests: peaks of memory are not a row's");

namespace compare {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "compare: %s\n", why.c_str());
  std::exit(1);
}

// Changes a flag that the command line leaves alone.
void SetDefault(const char* flag, const char* value) {
  gflags::SetCommandLineOptionWithMode(flag, value, gflags::SET_FLAG_IF_DEFAULT);
}

void UseQuickScale() {
  SetDefault("n", "100000");
  SetDefault("rounds", "1");
  SetDefault("seconds", "2");
}

// The rows of a subject, and the scale at which they show it.
struct RowSet {
  const char* name;
  const char* rows;
  const char* n;
};

constexpr RowSet kRowSets[] = {
    {"styles", "universal,fifo,plain", "500000"},
    {"values", "inline,blobs,entities", "300000"},
};

void UseSet() {
  for (const RowSet& set : kRowSets) {
    if (FLAGS_set != set.name) continue;
    SetDefault("only", set.rows);
    SetDefault("n", set.n);
    return;
  }
  Fail("--set: styles or values");
}

Scale ScaleFromFlags() {
  if (FLAGS_n < 1000) Fail("--n: at least 1000");
  if (FLAGS_rounds < 1) Fail("--rounds: at least 1");
  if (FLAGS_seconds <= 0) Fail("--seconds: above 0");
  if (FLAGS_compression != "none" && FLAGS_compression != "lz4") Fail("--compression: none or lz4");
  return {FLAGS_n, FLAGS_seconds, FLAGS_seed, FLAGS_compression == "lz4"};
}

// Creates an empty folder of our own and returns it.
std::string MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) Fail(folder + ": " + error.message());
  return folder;
}

std::string BuildFolder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::string WorkFolder() {
  std::string parent = FLAGS_dir;
  if (parent.empty()) parent = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
  return MakeFolder(parent + "/varve-compare");
}

// Like WorkFolder, on a disk. Created even if no row needs it.
std::string DiskFolder() {
  return MakeFolder((FLAGS_disk_dir.empty() ? BuildFolder() : FLAGS_disk_dir) +
                    "/varve-compare-disk");
}

std::vector<std::string> PeerPaths() {
  if (FLAGS_peer.empty()) return FindPeers(fs::path(BuildFolder()).parent_path() / "peers");
  std::vector<std::string> paths;
  for (size_t begin = 0; FLAGS_peer != "none" && begin <= FLAGS_peer.size();) {
    const size_t end = std::min(FLAGS_peer.find(',', begin), FLAGS_peer.size());
    if (end > begin) paths.push_back(FLAGS_peer.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

// Prints what is known of each library and returns them, ours first. Ends the program if ours is
// unfit.
std::vector<Contender> FindLibraries(const std::string& work) {
  const std::string build = BuildFolder();
  std::vector<std::string> paths = PeerPaths();
  const bool named = !FLAGS_peer.empty();
  paths.insert(paths.begin(),
               FLAGS_varve.empty() ? build + "/varve-compat/librocksdb.so" : FLAGS_varve);
  std::vector<Contender> libraries;
  for (size_t i = 0; i < paths.size(); i++) {
    Contender library = Inspect(paths[i]);
    if (library.kind == Kind::kUnknown) {
      Fail(paths[i] + ": no library with the C API of RocksDB, LevelDB or LMDB");
    }
    library.name = Identify(library, work + "/identify");
    if (library.name.empty()) Fail(paths[i] + ": cannot be loaded");
    const auto same =
        std::count_if(libraries.begin(), libraries.end(), [&](const Contender& other) {
          return other.name == library.name || other.name.starts_with(library.name + " #");
        });
    if (same > 0) library.name += " #" + std::to_string(same + 1);
    const bool fit = library.unfit.empty();
    std::printf("%s: %s%s%s\n", library.name.c_str(), paths[i].c_str(),
                fit ? ", built without assertions" : ", ", library.unfit.c_str());
    if (!fit && !FLAGS_allow_unfit) {
      if (i == 0 || named) Fail(paths[i] + ": " + library.unfit + ", its speed says nothing");
      std::printf("  left out: its speed says nothing; tools/peers gets one that is fit\n");
      continue;
    }
    libraries.push_back(std::move(library));
  }
  std::printf("\n");
  return libraries;
}

class Comparison {
 public:
  Comparison(const Setting& setting, std::string work, std::string disk)
      : setting_(setting), work_(std::move(work)), disk_(std::move(disk)) {}

  // Runs the rounds interleaved: each begins with another library.
  void Run(const Row& row) {
    const std::vector<Contender>& libraries = setting_.libraries;
    std::vector<std::vector<Sample>> samples(libraries.size());
    for (size_t i = 0; i < libraries.size(); i++) {
      if (!Prepare(libraries[i], row, FoldersOf(i), setting_.scale)) {
        problems_.push_back(row.name + ": " + libraries[i].name + " cannot build its data");
      }
    }
    for (int round = 0; round < setting_.rounds; round++) {
      for (size_t i = 0; i < libraries.size(); i++) {
        const size_t turn = (i + static_cast<size_t>(round)) % libraries.size();
        samples[turn].push_back(
            RunRows(libraries[turn], {row}, FoldersOf(turn), setting_.scale).front());
      }
    }
    Take(samples);
  }

  // Runs the rows of each library in one process, for tests.
  void RunTogether(const std::vector<Row>& rows) {
    std::vector<std::vector<Sample>> all;
    for (size_t i = 0; i < setting_.libraries.size(); i++) {
      all.push_back(RunRows(setting_.libraries[i], rows, FoldersOf(i), setting_.scale));
    }
    for (size_t row = 0; row < rows.size(); row++) {
      std::vector<std::vector<Sample>> samples;
      for (const std::vector<Sample>& one : all) samples.push_back({one[row]});
      Take(samples);
    }
  }

  // Deletes a data set that no later row needs.
  void Drop(const std::string& data_set) {
    for (size_t i = 0; i < setting_.libraries.size() && !data_set.empty(); i++) {
      fs::remove_all(FoldersOf(i).sets + "/" + data_set);
    }
  }

  const std::vector<Line>& lines() const { return lines_; }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  Folders FoldersOf(size_t library) const {
    const std::string own = work_ + "/" + std::to_string(library);
    return {own + "/sets", own + "/work", disk_ + "/" + std::to_string(library)};
  }
  void Take(const std::vector<std::vector<Sample>>& samples) {
    const RowResult result = Summarize(setting_.libraries, samples);
    PrintLines(setting_, result.lines);
    for (const std::string& problem : result.problems) std::printf("WRONG %s\n", problem.c_str());
    lines_.insert(lines_.end(), result.lines.begin(), result.lines.end());
    problems_.insert(problems_.end(), result.problems.begin(), result.problems.end());
  }

  const Setting& setting_;
  const std::string work_;
  const std::string disk_;
  std::vector<Line> lines_;
  std::vector<std::string> problems_;
};

// Draws the charts by tools/chart, which reads the CSV.
bool DrawChart(const Setting& setting, const std::string& csv, const std::string& chart) {
  std::vector<std::string> words = {VARVE_CHART_PROGRAM, "comparison", csv, chart,
                                    CaptionOf(setting)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  int status = 1;
  if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return false;
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

// Returns false, with a message, if one of the files could not be written.
bool WriteFiles(const Setting& setting, const std::vector<Line>& lines, const std::string& work) {
  bool written = true;
  const auto check = [&](bool ok, const std::string& path) {
    if (!ok) std::fprintf(stderr, "compare: %s was not written\n", path.c_str());
    written = written && ok;
  };
  const std::string csv = FLAGS_csv.empty() ? work + "/figures.csv" : FLAGS_csv;
  check(WriteCsv(csv, setting, lines), csv);
  if (!FLAGS_markdown.empty()) check(WriteMarkdown(FLAGS_markdown, setting, lines), FLAGS_markdown);
  if (!FLAGS_chart.empty()) check(DrawChart(setting, csv, FLAGS_chart), FLAGS_chart);
  return written;
}

std::vector<Row> WantedRows() {
  std::vector<Row> rows;
  for (Row& row : AllRows()) {
    if (IsWanted(row.name, FLAGS_only)) rows.push_back(std::move(row));
  }
  if (rows.empty()) Fail("--only: no such row; --list prints them");
  return rows;
}

int Main(const std::string& command) {
  if (FLAGS_quick) UseQuickScale();
  if (!FLAGS_set.empty()) UseSet();
  const std::vector<Row> rows = WantedRows();
  if (FLAGS_list) {
    for (const Row& row : rows) std::printf("%s\n", row.name.c_str());
    return 0;
  }
  Setting setting;
  setting.scale = ScaleFromFlags();
  setting.rounds = FLAGS_one_process ? 1 : FLAGS_rounds;
  setting.command = command;
  const std::string work = WorkFolder();
  setting.machine = DescribeMachine(work);
  setting.libraries = FindLibraries(work);
  PrintHead(setting);
  const std::string disk = DiskFolder();
  Comparison comparison(setting, work, disk);
  if (FLAGS_one_process) {
    comparison.RunTogether(rows);
  } else {
    for (size_t i = 0; i < rows.size(); i++) {
      comparison.Run(rows[i]);
      if (i + 1 == rows.size() || rows[i + 1].data != rows[i].data) comparison.Drop(rows[i].data);
    }
  }
  const bool written = WriteFiles(setting, comparison.lines(), work);
  fs::remove_all(work);
  fs::remove_all(disk);
  if (!comparison.problems().empty()) {
    std::printf("%zu problems, see the lines with WRONG\n", comparison.problems().size());
    return 1;
  }
  return written ? 0 : 1;
}

// Returns the command as it was typed.
std::string CommandText(int argc, char** argv) {
  std::string text = argv[0];
  for (int i = 1; i < argc; i++) text += std::string(" ") + argv[i];
  return text;
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  compare::BeChildIfStartedAsOne(argc, argv);
  const std::string command = compare::CommandText(argc, argv);
  gflags::SetUsageMessage("\nUSAGE:\n" + std::string(argv[0]) + " [OPTIONS]...");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) compare::Fail(std::string(argv[1]) + " is no flag");
  return compare::Main(command);
}
