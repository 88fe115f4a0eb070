// SPDX-License-Identifier: Apache-2.0
// Goal: the mechanical rules of this tree hold: includes point down, files are short and licensed,
// nothing is dead, and documents name files that exist. Method: read every text file of the source
// tree once, then one test a rule. The decisions are pure functions with their own cases, so that a
// rule which can no longer fail is noticed.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/harness/source_root.h"

namespace varve {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path kRoot = testing::SourceRoot();

// Layers of db/, lowest first. Rooms of one row are siblings and may not include each other.
// First what lies in db/ itself: the DB mutex and the ranks of locks.
const std::vector<std::vector<std::string_view>> kDbLayers = {
    {""},
    {"trace"},
    {"wal"},
    {"blob"},
    {"version"},
    {"column_family"},
    {"read"},
    {"write"},
    {"compaction"},
    {"flush"},
    {"engine"},
    {"background"},
    {"recovery"},
    {"transaction"},
    {"ingest", "copy", "external", "observe", "follow", "ttl"},
    {"backup", "metrics"},
    {"api"},
};

std::string_view FirstPart(std::string_view path) {
  return path.substr(0, path.find('/'));
}

std::string_view SecondPart(std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return "";
  const std::string_view rest = path.substr(slash + 1);
  return rest.find('/') == std::string_view::npos ? "" : FirstPart(rest);
}

// Returns the position in kDbLayers; -1 for unknown rooms.
int DbLayer(std::string_view room) {
  for (size_t i = 0; i < kDbLayers.size(); ++i) {
    if (std::ranges::find(kDbLayers[i], room) != kDbLayers[i].end()) return static_cast<int>(i);
  }
  return -1;
}

// Returns true if `from` (a path from the root) may have the line #include "to".
bool MayInclude(std::string_view from, std::string_view to) {
  const std::string_view source = FirstPart(from);
  const std::string_view target = FirstPart(to);
  const bool above_db = source == "tools" || source == "benchmarks" || source == "tests";
  if (target == "varve") {
    const bool engine_only = to == "varve/db.h" || to == "varve/c.h";
    const bool below_db = source == "util" || source == "memtable" || source == "table";
    return !(engine_only && below_db);
  }
  if (target == source) {
    if (source != "db") return source != "include";
    const int from_layer = DbLayer(SecondPart(from));
    const int to_layer = DbLayer(SecondPart(to));
    return SecondPart(from) == SecondPart(to) || (to_layer >= 0 && to_layer < from_layer);
  }
  if (source == "memtable" || source == "table") return target == "util";
  if (source == "db") return target == "util" || target == "memtable" || target == "table";
  return above_db && (target == "util" || target == "memtable" || target == "table" ||
                      target == "db" || (source != "tools" && target == "tools"));
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

// Maps each folder to the other folders that its files include.
using FolderIncludes = std::map<std::string, std::set<std::string>>;

// Returns "a <-> b" for every two folders that include each other.
std::vector<std::string> MutualIncludes(const FolderIncludes& includes) {
  std::vector<std::string> found;
  for (const auto& [from, targets] : includes) {
    for (const std::string& to : targets) {
      const auto back = includes.find(to);
      if (from < to && back != includes.end() && back->second.count(from) != 0) {
        found.push_back(from + " <-> " + to);
      }
    }
  }
  return found;
}

// Returns back-quoted or linked words of a Markdown line that claim to be files of this tree.
std::vector<std::string> NamedPaths(const std::string& line) {
  static const std::array<std::string_view, 8> kFolders = {
      "include", "util", "memtable", "table", "db", "tests", "benchmarks", "tools"};
  std::vector<std::string> found;
  for (size_t start = line.find_first_of("`("); start != std::string::npos;) {
    const char close = line[start] == '`' ? '`' : ')';
    const size_t end = line.find(close, start + 1);
    if (end == std::string::npos) break;
    const std::string word = line.substr(start + 1, end - start - 1);
    const bool linked = close == ')' && start > 0 && line[start - 1] == ']';
    const bool plain = word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_-./") == std::string::npos;
    const bool rooted = word.find('/') != std::string::npos && !word.ends_with("...") &&
                        std::ranges::find(kFolders, FirstPart(word)) != kFolders.end();
    if (plain && !word.empty() && (linked || (close == '`' && rooted))) found.push_back(word);
    start = line.find_first_of("`(", close == '`' ? end + 1 : start + 1);
  }
  return found;
}

// Returns the lines of a CMakeLists.txt that hold a source alone and belong before the source of
// the line above.
std::vector<std::string> UnsortedLists(const Lines& lines) {
  std::vector<std::string> found;
  std::string before;
  for (const std::string& line : lines) {
    const size_t start = line.find_first_not_of(' ');
    const bool alone = start != std::string::npos && start > 0 &&
                       (line.ends_with(".cc") || line.ends_with(".c")) &&
                       line.find_first_of(" (\"$", start) == std::string::npos;
    if (alone && !before.empty() && line < before) found.push_back(line.substr(start));
    before = alone ? line : "";
  }
  return found;
}

struct NamedTest {
  std::string file;
  std::string name;  // "Suite.Test"
};

// Returns each back-quoted "<file>: <Suite>.<Test>" of a Markdown line.
std::vector<NamedTest> NamedTests(const std::string& line) {
  std::vector<NamedTest> found;
  for (size_t start = line.find('`'); start != std::string::npos;) {
    const size_t end = line.find('`', start + 1);
    if (end == std::string::npos) break;
    const std::string word = line.substr(start + 1, end - start - 1);
    const size_t colon = word.find(": ");
    if (colon != std::string::npos && word.substr(0, colon).ends_with("_test.cc")) {
      found.push_back(NamedTest{word.substr(0, colon), word.substr(colon + 2)});
    }
    start = line.find('`', end + 1);
  }
  return found;
}

// Returns true if a source has TEST(Suite, Test) or a similar macro, on one line or two.
bool HasTest(const Lines& lines, const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return false;
  const std::string suite = "(" + name.substr(0, dot) + ",";
  const std::string test = name.substr(dot + 1) + ")";
  for (size_t i = 0; i < lines.size(); i++) {
    if (!lines[i].starts_with("TEST") || lines[i].find(suite) == std::string::npos) continue;
    const std::string both = lines[i] + (i + 1 < lines.size() ? lines[i + 1] : "");
    if (both.find(" " + test) != std::string::npos) return true;
  }
  return false;
}

// Returns "namespace::Type" of each type that a header's lines define outside other types.
std::vector<std::string> DefinedTypes(const Lines& lines) {
  std::vector<std::string> found;
  std::string space;
  for (const std::string& line : lines) {
    const std::string_view text = line;
    if (text.starts_with("namespace ")) space = text.substr(10, text.find(' ', 10) - 10);
    const bool type = text.starts_with("struct ") || text.starts_with("class ") ||
                      text.starts_with("enum class ");
    if (!type || text.find('{') == std::string_view::npos) continue;
    // The last word before a base, or the brace.
    std::string_view head = text.substr(0, text.find('{'));
    head = head.substr(0, head.find(" :"));
    if (head.ends_with(' ')) head.remove_suffix(1);
    if (head.ends_with(" final")) head.remove_suffix(6);
    const std::string_view name = head.substr(head.find_last_of(" )") + 1);
    if (name.find('<') == std::string_view::npos) found.push_back(space + "::" + std::string(name));
  }
  return found;
}

// Returns the first line of each comment block that begins as a fragment and not as a sentence.
// Comments behind code are not blocks.
std::vector<std::string> FragmentComments(const Lines& lines) {
  static const std::array<std::string_view, 13> kFragments = {
      "Of ",  "The same", "As ",  "Those ",   "Which ",  "Whose ", "Whether ",
      "How ", "What ",    "Who ", "Whoever ", "Nobody ", "Why "};
  std::vector<std::string> found;
  bool in_block = false;
  for (const std::string& line : lines) {
    const size_t start = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view code = std::string_view(line).substr(start);
    const bool is_comment = code.starts_with("//");
    if (is_comment && !in_block) {
      const std::string_view text = code.substr(code.starts_with("// ") ? 3 : 2);
      const auto begins = [text](std::string_view word) { return text.starts_with(word); };
      if (std::ranges::any_of(kFragments, begins)) found.emplace_back(text);
    }
    in_block = is_comment;
  }
  return found;
}

bool IsSource(std::string_view path) {
  return path.ends_with(".cc") || path.ends_with(".h");
}

bool IsCMake(std::string_view path) {
  return path.ends_with("CMakeLists.txt") || path.ends_with(".cmake");
}

// Returns every text file that the rules look at, by its path from the root.
std::map<std::string, Lines> ReadTree() {
  std::map<std::string, Lines> tree;
  for (fs::recursive_directory_iterator it(kRoot), end; it != end; ++it) {
    const std::string path = it->path().lexically_relative(kRoot).generic_string();
    if (it->is_directory()) {
      if (path.starts_with("build") || path == ".git" || path == ".cache") {
        it.disable_recursion_pending();
      }
      continue;
    }
    const bool script =
        !it->path().has_extension() && (path.starts_with("tools/") || path.starts_with(".ci/"));
    if (!IsSource(path) && !IsCMake(path) && !path.ends_with(".md") && !script) continue;
    std::ifstream file(it->path());
    Lines& lines = tree[path];
    for (std::string line; std::getline(file, line);) lines.push_back(line);
  }
  return tree;
}

const std::map<std::string, Lines>& Tree() {
  static const std::map<std::string, Lines> tree = ReadTree();
  return tree;
}

TEST(TidyTest, IncludeRuleKnowsUpFromDown) {
  EXPECT_TRUE(MayInclude("util/coding/varint.cc", "util/coding/varint.h"));
  EXPECT_TRUE(MayInclude("table/block.cc", "varve/slice.h"));
  EXPECT_TRUE(MayInclude("db/write/stall.cc", "db/version/version.h"));
  EXPECT_TRUE(MayInclude("tests/db/get_test.cc", "db/read/get.h"));
  EXPECT_FALSE(MayInclude("util/coding/varint.cc", "table/block.h"));
  EXPECT_FALSE(MayInclude("util/coding/varint.cc", "varve/db.h"));
  EXPECT_FALSE(MayInclude("table/block.cc", "memtable/memtable.h"));
  EXPECT_FALSE(MayInclude("memtable/memtable.cc", "db/read/get.h"));
  EXPECT_FALSE(MayInclude("db/version/version.cc", "db/write/stall.h"));
  EXPECT_FALSE(MayInclude("db/copy/job.cc", "db/ingest/job.h"));
  EXPECT_FALSE(MayInclude("db/api/db_impl.cc", "tests/harness/model.h"));
  EXPECT_FALSE(MayInclude("include/varve/db.h", "util/key/sequence.h"));
}

TEST(TidyTest, MarkdownRuleFindsPaths) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(NamedPaths("see `util/README.md`, `a/b.h`, `db/...` and `db/*.cc`"),
            Paths({"util/README.md"}));
  EXPECT_EQ(NamedPaths("[here](../db/README.md) (really)"), Paths({"../db/README.md"}));
  EXPECT_EQ(NamedPaths("[site](https://x.org/) `Get()`"), Paths());
}

TEST(TidyTest, PromiseRuleFindsTests) {
  const std::vector<NamedTest> found =
      NamedTests("by `tests/a_test.cc: A.One`, `b.cc: B.Two` and `tests/c_test.cc: C.Three`.");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].file, "tests/c_test.cc");
  EXPECT_EQ(found[1].name, "C.Three");
  const Lines lines = {"TEST(A, One) {", "TEST_F(Long,", "       Two) {", "// (A, Three)"};
  EXPECT_TRUE(HasTest(lines, "A.One"));
  EXPECT_TRUE(HasTest(lines, "Long.Two"));
  EXPECT_FALSE(HasTest(lines, "A.Two"));
  EXPECT_FALSE(HasTest(lines, "A.Three"));
}

TEST(TidyTest, PromisesNameTestsThatExist) {
  const std::string path = "db/PROMISES.md";
  const auto page = Tree().find(path);
  ASSERT_TRUE(page != Tree().end());
  size_t named = 0;
  for (size_t i = 0; i < page->second.size(); ++i) {
    for (const NamedTest& test : NamedTests(page->second[i])) {
      named++;
      const auto file = Tree().find(test.file);
      EXPECT_TRUE(file != Tree().end() && HasTest(file->second, test.name))
          << path << ':' << i + 1 << " names " << test.name << " in " << test.file;
    }
  }
  EXPECT_GE(named, 60u);
}

TEST(TidyTest, IncludesPointDown) {
  // These headers stand for RocksDB's, under its names; bindings are built by themselves.
  const std::string shims = "tools/java/shims/";
  const std::string bindings = "tools/bindings/";
  for (const auto& [path, lines] : Tree()) {
    if (!IsSource(path) || path.starts_with(shims) || path.starts_with(bindings)) continue;
    for (const std::string& line : lines) {
      if (!line.starts_with("#include \"")) continue;
      const std::string to = line.substr(10, line.find('"', 10) - 10);
      EXPECT_TRUE(MayInclude(path, to)) << path << " may not include " << to;
      const bool exists = fs::exists(kRoot / to) || fs::exists(kRoot / "include" / to);
      EXPECT_TRUE(exists) << path << " includes " << to << ", which is not there";
    }
  }
}

TEST(TidyTest, MutualIncludesAreFound) {
  EXPECT_EQ(FolderOf("table/cache/entry.h"), "table/cache");
  const FolderIncludes includes = {{"a", {"b", "b/c"}}, {"b", {"b/c"}}, {"b/c", {"a"}}};
  EXPECT_EQ(MutualIncludes(includes), std::vector<std::string>({"a <-> b/c"}));
}

// One of any two folders can be read and tested without the other.
TEST(TidyTest, NoTwoFoldersIncludeEachOther) {
  const std::array<std::string_view, 4> rooms = {"db", "memtable", "table", "util"};
  FolderIncludes includes;
  for (const auto& [path, lines] : Tree()) {
    if (!IsSource(path) || std::ranges::find(rooms, FirstPart(path)) == rooms.end()) continue;
    for (const std::string& line : lines) {
      if (!line.starts_with("#include \"")) continue;
      const std::string_view to = FolderOf(std::string_view(line).substr(10));
      if (to != FolderOf(path)) includes[std::string(FolderOf(path))].emplace(to);
    }
  }
  EXPECT_EQ(MutualIncludes(includes), std::vector<std::string>());
}

TEST(TidyTest, TypesOfHeadersAreFound) {
  EXPECT_EQ(DefinedTypes({"namespace a {", "class B;", "class C : public D {", "  struct E {",
                          "enum class F : int {", "class alignas(64) G final {", "struct H<int> {",
                          "namespace b::c {", "struct I {}"}),
            std::vector<std::string>({"a::C", "a::F", "a::G", "b::c::I"}));
}

// Two that share a name end a program in ways that no compiler sees.
TEST(TidyTest, ATypeIsDefinedOnce) {
  const std::array<std::string_view, 5> rooms = {"db", "include", "memtable", "table", "util"};
  std::map<std::string, std::string> defined;
  for (const auto& [path, lines] : Tree()) {
    if (!path.ends_with(".h") || std::ranges::find(rooms, FirstPart(path)) == rooms.end()) continue;
    for (const std::string& type : DefinedTypes(lines)) {
      const auto [other, is_new] = defined.emplace(type, path);
      EXPECT_TRUE(is_new) << type << " is in " << other->second << " and " << path;
    }
  }
  EXPECT_GT(defined.size(), 500u);
}

TEST(TidyTest, FilesAreShort) {
  for (const auto& [path, lines] : Tree()) {
    EXPECT_LE(lines.size(), 1000u) << path << ": split it by idea";
  }
}

TEST(TidyTest, FilesNameTheirLicense) {
  for (const auto& [path, lines] : Tree()) {
    if (path.ends_with(".md")) continue;
    const size_t line = !lines.empty() && lines[0].starts_with("#!") ? 1 : 0;
    const bool named =
        lines.size() > line && lines[line].ends_with("SPDX-License-Identifier: Apache-2.0");
    EXPECT_TRUE(named) << path;
  }
}

TEST(TidyTest, HeadersAreIncludedOnce) {
  for (const auto& [path, lines] : Tree()) {
    if (!path.ends_with(".h")) continue;
    EXPECT_TRUE(lines.size() > 1 && lines[1] == "#pragma once") << path << ": second line";
  }
}

// A .cc outside the lists is dead code, or a test that never runs.
TEST(TidyTest, SourcesBelongToATarget) {
  for (const auto& [path, lines] : Tree()) {
    if (!path.ends_with(".cc")) continue;
    bool listed = false;
    for (fs::path folder = fs::path(path).parent_path(); !listed && !folder.empty();
         folder = folder.parent_path()) {
      const auto list = Tree().find((folder / "CMakeLists.txt").generic_string());
      if (list == Tree().end()) continue;
      const std::string name = fs::path(path).lexically_relative(folder).generic_string();
      listed = std::ranges::any_of(list->second, [&](const std::string& line) {
        const size_t at = line.find(name);
        if (at == std::string::npos) return false;
        const auto edge = [](char c) { return c == ' ' || c == '(' || c == ')' || c == '"'; };
        return (at == 0 || edge(line[at - 1])) &&
               (at + name.size() == line.size() || edge(line[at + name.size()]));
      });
    }
    EXPECT_TRUE(listed) << path << " is in no CMakeLists.txt";
  }
}

TEST(TidyTest, UnsortedListsAreFound) {
  const Lines lines = {"varve_room(x",  "  SOURCES",      "    b/two.cc", "    a/one.cc",
                       "    a/three.c", "  DEPENDS util", "    a.cc",     ")"};
  EXPECT_EQ(UnsortedLists(lines), std::vector<std::string>{"a/one.cc"});
}

TEST(TidyTest, ListsOfSourcesAreSorted) {
  for (const auto& [path, lines] : Tree()) {
    if (!path.ends_with("CMakeLists.txt")) continue;
    for (const std::string& line : UnsortedLists(lines)) {
      ADD_FAILURE() << path << ": " << line << " is out of order";
    }
  }
}

TEST(TidyTest, FragmentCommentsAreFound) {
  const Lines lines = {"// Of the file.",
                       "int a;  // Of another.",
                       "  // Whether it is.",
                       "  // The same line.",
                       "int b;",
                       "// Returns it.",
                       "// As before.",
                       "int c;",
                       "// Office hours are held."};
  EXPECT_EQ(FragmentComments(lines), std::vector<std::string>({"Of the file.", "Whether it is."}));
}

TEST(TidyTest, CommentsBeginAsSentences) {
  for (const auto& [path, lines] : Tree()) {
    if (!IsSource(path)) continue;
    for (const std::string& text : FragmentComments(lines)) {
      ADD_FAILURE() << path << ": a comment begins as a fragment: " << text;
    }
  }
}

TEST(TidyTest, NothingIsLeftForLater) {
  const std::array<std::string, 4> banned = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                             std::string("XX") + "X:", std::string("/wo") + "rk/"};
  for (const auto& [path, lines] : Tree()) {
    for (size_t i = 0; i < lines.size(); ++i) {
      for (const std::string& word : banned) {
        EXPECT_EQ(lines[i].find(word), std::string::npos) << path << ':' << i + 1 << ": " << word;
      }
    }
  }
}

TEST(TidyTest, NamesSayWhatTheyHold) {
  const std::vector<std::string> vague = {"utils", "misc", "common", "helpers", "manager", "impl"};
  for (const auto& [path, lines] : Tree()) {
    const std::string stem = fs::path(path).stem().string();
    EXPECT_EQ(std::ranges::find(vague, stem), vague.end()) << path;
  }
}

TEST(TidyTest, TheRootIsAFixedList) {
  const std::vector<std::string> fixed = {"CMakeLists.txt", "CMakePresets.json",
                                          "LICENSE",        "README.md",
                                          "CHANGELOG.md",   "SECURITY.md",
                                          "include",        "db",
                                          "memtable",       "table",
                                          "util",           "tests",
                                          "benchmarks",     "tools"};
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".") || name.starts_with("build")) continue;
    if (name == "compile_commands.json" || name == "CMakeUserPresets.json") continue;
    EXPECT_NE(std::ranges::find(fixed, name), fixed.end())
        << name << " does not belong in the root";
  }
}

TEST(TidyTest, DocumentsNameFilesThatExist) {
  for (const auto& [path, lines] : Tree()) {
    if (!path.ends_with(".md")) continue;
    const fs::path folder = (kRoot / path).parent_path();
    for (size_t i = 0; i < lines.size(); ++i) {
      for (const std::string& named : NamedPaths(lines[i])) {
        const bool exists = fs::exists(folder / named) || fs::exists(kRoot / named);
        EXPECT_TRUE(exists) << path << ':' << i + 1 << " names " << named;
      }
    }
  }
}

}  // namespace
}  // namespace varve
