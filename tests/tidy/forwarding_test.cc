// SPDX-License-Identifier: Apache-2.0
// Goal: StackableDB hands on every call of DB, with the arguments in their order: one that it lacks
// would be answered by DB's own default, as if the database beneath could not do it. The wrappers
// of Env, FileSystem and their files hand on every call likewise. Method: the virtual methods of
// both are read from the headers, and for the wrappers the lists of forwarded_calls.h, too. Those
// pass arguments on by construction, so that only the names are compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/harness/source_root.h"
#include "tests/tidy/public_headers.h"

namespace varve::tidy {
namespace {

Lines LinesOf(const std::string& path) {
  Lines lines;
  std::ifstream file(testing::SourceRoot() + "/" + path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Returns the comma-separated parts within the parentheses that open at `open`.
std::vector<std::string> InParentheses(const std::string& text, size_t open) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ')' || c == '>') --depth;
    if (depth == 0 && i > open) break;
    if (c == ',' && depth == 1) {
      parts.emplace_back();
    } else if (i > open) {
      parts.back() += c;
    }
    if (c == '(' || c == '<') ++depth;
  }
  for (std::string& part : parts) {
    part = std::regex_replace(part, std::regex("/\\*|\\*/|^ +| *=.*| +$"), " ");
    part = std::regex_replace(part, std::regex(" +"), " ");
    part = std::regex_replace(part, std::regex("^ | $"), "");
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

struct Parameters {
  std::vector<std::string> types;
  std::vector<std::string> names;
};

Parameters ParametersOf(const PublicMethod& method) {
  Parameters found;
  for (const std::string& part : InParentheses(method.text, method.text.find('('))) {
    const size_t space = part.find_last_of(" *&");
    found.types.push_back(std::regex_replace(part.substr(0, space + 1), std::regex(" "), ""));
    found.names.push_back(part.substr(space + 1));
  }
  return found;
}

// Returns "Name(type,type)".
std::string SignatureOf(const PublicMethod& method) {
  std::string text = method.name + "(";
  for (const std::string& type : ParametersOf(method).types) text += type + ",";
  return text + ")";
}

// Returns "", or the problem of an override's body.
std::string Judge(const PublicMethod& method, const std::string& body) {
  const std::string call = "db_->" + method.name + "(";
  const size_t at = body.find(call);
  if (at == std::string::npos) return "it does not call " + call;
  std::vector<std::string> arguments = InParentheses(body, at + call.size() - 1);
  for (std::string& argument : arguments) {
    argument = std::regex_replace(argument, std::regex("^std::move\\((.*)\\)$"), "$1");
  }
  return arguments == ParametersOf(method).names ? "" : "its arguments are others";
}

std::string DefinedElsewhere(const std::string& name) {
  std::string text;
  for (const std::string& line : LinesOf("db/transaction/transaction_defaults.cc")) {
    if (line.find("StackableDB::" + name + "(") != std::string::npos) text = line;
    if (!text.empty()) text += " " + line;
    if (!text.empty() && line == "}") break;
  }
  return text;
}

// Returns the virtual methods of DB that are not forwarded.
std::vector<std::string> NotForwarded(const Lines& db, const Lines& stackable) {
  std::map<std::string, PublicMethod> overrides;
  for (const PublicMethod& method : MethodsOf("StackableDB", stackable)) {
    if (method.text.find(" override") != std::string::npos) overrides[SignatureOf(method)] = method;
  }
  std::vector<std::string> found;
  for (const PublicMethod& method : MethodsOf("DB", db)) {
    if (!method.is_virtual) continue;
    const auto it = overrides.find(SignatureOf(method));
    if (it == overrides.end()) {
      found.push_back(SignatureOf(method) + ": there is no override");
      continue;
    }
    const bool here = it->second.text.find('{') != std::string::npos;
    const std::string body = here ? it->second.text : DefinedElsewhere(method.name);
    const std::string wrong = Judge(it->second, body);
    if (!wrong.empty()) found.push_back(SignatureOf(method) + ": " + wrong);
  }
  return found;
}

// Returns the code from line `begin` on, as long as `goes_on` is true for a line.
template <typename GoesOn>
std::string CodeFrom(const Lines& lines, size_t begin, GoesOn goes_on) {
  std::string code;
  for (size_t i = begin; i < lines.size(); i++) {
    code += lines[i].substr(0, lines[i].find("//")) + "\n";
    if (!goes_on(lines[i])) break;
  }
  return code;
}

// Returns the body of a class in `wrappers`, followed by the lists that it names, and those that
// these name.
std::string WrapperCode(const std::string& name, const Lines& wrappers, const Lines& lists) {
  std::string code;
  for (size_t i = 0; i < wrappers.size(); i++) {
    if (wrappers[i].find(" " + name + " : public ") == std::string::npos) continue;
    code = CodeFrom(wrappers, i, [](const std::string& line) { return line != "};"; });
  }
  static const std::regex list("VARVE_[A-Z_]+_CALLS");
  for (std::smatch found; std::regex_search(code, found, list);) {
    std::string rows;
    for (size_t i = 0; i < lists.size(); i++) {
      if (!std::regex_search(lists[i], std::regex("#define " + found.str() + "\\b"))) continue;
      rows = CodeFrom(lists, i + 1, [](const std::string& line) { return line.ends_with("\\"); });
    }
    code = found.prefix().str() + rows + found.suffix().str();
  }
  return code;
}

// Returns the virtual methods of a class that have fewer overrides in `code` than overloads.
std::vector<std::string> NotNamed(const std::string& name, const Lines& header,
                                  const std::string& code) {
  std::map<std::string, int> overloads;
  for (const PublicMethod& method : MethodsOf(name, header)) {
    if (method.is_virtual) overloads[method.name]++;
  }
  std::vector<std::string> found;
  for (const auto& [method, count] : overloads) {
    const std::regex word("[ (]" + method + "[(,]");
    const std::sregex_iterator begin(code.begin(), code.end(), word);
    if (std::distance(begin, std::sregex_iterator()) < count) found.push_back(method);
  }
  return found;
}

TEST(ForwardingTest, WhatWrappersLackIsFound) {
  const Lines header = {"class Env {",
                        " public:",
                        "  virtual int One(int a) = 0;",
                        "  virtual int One(int a, int b) = 0;",
                        "  virtual int Two(int a) = 0;",
                        "  virtual int Three(int a) = 0;",
                        "  virtual int Four(int a) = 0;",
                        "};"};
  const Lines wrappers = {"class EnvWrapper : public Env {", "  VARVE_SOME_CALLS(X)",
                          "  int Two(int a) override { return target_->Two(a); }",
                          "  // VARVE_FORWARD(int, Four, (int), )", "};"};
  const Lines lists = {"#define VARVE_SOME_CALLS(X) \\",
                       "  X(One, (int), (), ) \\",
                       "  VARVE_OTHER_CALLS",
                       "",
                       "#define VARVE_OTHER_CALLS \\",
                       "  VARVE_FORWARD(int, Three, (int), )"};
  EXPECT_EQ(NotNamed("Env", header, WrapperCode("EnvWrapper", wrappers, lists)),
            (std::vector<std::string>{"Four", "One"}));
}

TEST(ForwardingTest, WrappersHandOnEveryCall) {
  const Lines lists = LinesOf("include/varve/forwarded_calls.h");
  const std::map<std::string, std::vector<std::string>> classes = {
      {"env",
       {"Env", "SequentialFile", "RandomAccessFile", "WritableFile", "RandomRWFile", "Directory",
        "Logger"}},
      {"file_system",
       {"FileSystem", "FSSequentialFile", "FSRandomAccessFile", "FSWritableFile", "FSRandomRWFile",
        "FSDirectory"}}};
  for (const auto& [header, names] : classes) {
    const Lines wrapped = LinesOf("include/varve/" + header + ".h");
    const Lines wrappers = LinesOf("include/varve/" + header + "_wrappers.h");
    for (const std::string& name : names) {
      EXPECT_FALSE(MethodsOf(name, wrapped).empty()) << name;
      const std::string code = WrapperCode(name + "Wrapper", wrappers, lists);
      for (const std::string& missing : NotNamed(name, wrapped, code)) {
        ADD_FAILURE() << name << "Wrapper does not forward " << missing;
      }
    }
  }
}

TEST(ForwardingTest, WhatIsMissingIsFound) {
  const Lines db = {"class DB {",
                    " public:",
                    "  virtual Status One(int a, const Slice& b) = 0;",
                    "  virtual Status Two(const std::map<int, int>& /*a*/, bool b = true) {",
                    "    return Status::NotSupported(\"Two\");",
                    "  }",
                    "  virtual Status Three(int a) = 0;",
                    "  virtual int Four() const = 0;",
                    "  Status Five() { return One(1, \"\"); }",
                    "};"};
  const Lines stackable = {
      "class StackableDB : public DB {",
      " public:",
      "  Status One(int a, const Slice& b) override { return db_->One(b, a); }",
      "  Status Two(const std::map<int, int>& a, bool b) override {",
      "    return db_->Two(a, std::move(b));",
      "  }",
      "  Status Three(int64_t a) override { return db_->Three(a); }",
      "  int Four() const override { return 4; }",
      "};"};
  EXPECT_EQ(NotForwarded(db, stackable),
            (std::vector<std::string>{"One(int,constSlice&,): its arguments are others",
                                      "Three(int,): there is no override",
                                      "Four(): it does not call db_->Four("}));
}

TEST(ForwardingTest, StackableDbHandsOnEveryCall) {
  const Lines db = LinesOf("include/varve/db.h");
  const auto methods = MethodsOf("DB", db);
  EXPECT_GT(std::ranges::count_if(methods, [](const auto& m) { return m.is_virtual; }), 90);
  for (const std::string& wrong :
       NotForwarded(db, LinesOf("include/varve/utilities/stackable_db.h"))) {
    ADD_FAILURE() << wrong;
  }
}

}  // namespace
}  // namespace varve::tidy
