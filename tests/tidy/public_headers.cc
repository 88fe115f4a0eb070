// SPDX-License-Identifier: Apache-2.0
#include "tests/tidy/public_headers.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace varve::tidy {

namespace {

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

size_t IndentOf(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// A line's code, and what its comment says.
struct Split {
  std::string code;
  std::string comment;
};

Split SplitLine(const std::string& line) {
  const size_t at = line.find("//");
  if (at == std::string::npos) return {Trimmed(line), ""};
  const size_t text = line.find_first_not_of('/', at);
  return {Trimmed(std::string_view(line).substr(0, at)),
          text == std::string::npos ? "" : Trimmed(std::string_view(line).substr(text))};
}

// Holds one declaration with all its lines, and the comment about it.
struct Declaration {
  std::string code;
  std::string comment;
};

// Walks the declarations of one scope. A body in braces is part of its declaration.
class Scope {
 public:
  // Lines [begin, end) of the header.
  Scope(const Lines& lines, size_t begin, size_t end) : lines_(lines), at_(begin), end_(end) {}

  bool Next(Declaration* found) {
    for (; at_ < end_; at_++) {
      const Split split = SplitLine(lines_[at_]);
      if (split.code.empty() && split.comment.empty()) block_.clear();
      if (split.code.empty()) {
        TakeComment(split.comment);
        continue;
      }
      if (split.code.starts_with("#") || split.code.ends_with(":")) continue;
      TakeDeclaration(found);
      return true;
    }
    return false;
  }
  // Returns the position where the declaration that Next found began.
  size_t begun() const { return begun_; }

 private:
  void TakeComment(const std::string& comment) {
    if (after_code_) block_.clear();
    after_code_ = false;
    if (!comment.empty()) block_ += comment + " ";
  }
  void TakeDeclaration(Declaration* found) {
    begun_ = at_;
    *found = Declaration{"", block_};
    int depth = 0;
    for (bool done = false; !done && at_ < end_; at_++) {
      const Split split = SplitLine(lines_[at_]);
      found->code += (found->code.empty() ? "" : " ") + split.code;
      if (depth == 0) found->comment += split.comment + " ";
      for (const char c : split.code) depth += c == '{' || c == '(' ? 1 : 0;
      for (const char c : split.code) depth -= c == '}' || c == ')' ? 1 : 0;
      const bool ends = split.code.ends_with(";") || split.code.ends_with("}");
      done = depth == 0 && ends;
    }
    after_code_ = true;
  }

  const Lines& lines_;
  size_t at_;
  const size_t end_;
  size_t begun_ = 0;
  std::string block_;
  bool after_code_ = false;
};

// Returns the name after "struct" or "class" in a line that begins a body; empty: it does not.
std::string BodyName(const std::string& line) {
  std::string code = SplitLine(line).code;
  if (!code.ends_with("{")) return "";
  for (const char* kind : {"struct ", "class "}) {
    if (!code.starts_with(kind)) continue;
    code.erase(0, std::string_view(kind).size());
    if (code.starts_with("VARVE_EXPORT ")) code.erase(0, 13);
    const auto end = std::ranges::find_if_not(code, IsWordChar);
    return {code.begin(), end};
  }
  return "";
}

// Returns the line that closes the body begun in line `begin`.
size_t BodyEnd(const Lines& lines, size_t begin) {
  const std::string close = std::string(IndentOf(lines[begin]), ' ') + "};";
  size_t end = begin + 1;
  while (end < lines.size() && lines[end] != close) end++;
  return end;
}

bool HoldsOptions(const std::string& name) {
  return name.find("Options") != std::string::npos || name.ends_with("Arg");
}

// Removes template arguments, which do not affect the kind of a declaration.
std::string WithoutTemplateArguments(const std::string& code) {
  std::string plain;
  int depth = 0;
  for (const char c : code) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0) plain += c;
    depth -= c == '>' && depth > 0 ? 1 : 0;
  }
  return plain;
}

std::string LastWord(const std::string& text) {
  size_t end = text.size();
  while (end > 0 && !IsWordChar(text[end - 1])) end--;
  size_t begin = end;
  while (begin > 0 && IsWordChar(text[begin - 1])) begin--;
  return text.substr(begin, end - begin);
}

// Returns the name of the data member that the code declares; empty: it declares something else.
std::string FieldName(const std::string& code) {
  for (const char* other : {"using ", "static ", "explicit ", "friend ", "virtual ", "struct ",
                            "class ", "typedef ", "template "}) {
    if (code.starts_with(other)) return "";
  }
  std::string plain = WithoutTemplateArguments(code);
  if (plain.find(" operator") != std::string::npos) return "";
  if (plain.starts_with("enum ")) {
    const size_t close = plain.rfind('}');
    plain = close == std::string::npos ? "" : plain.substr(close + 1);
  }
  plain = plain.substr(0, plain.find_first_of("={;"));
  return plain.find('(') == std::string::npos ? LastWord(plain) : "";
}

std::string CommentAbove(const Lines& lines, size_t line) {
  std::string comment;
  while (line > 0) {
    const Split split = SplitLine(lines[--line]);
    if (!split.code.empty() || split.comment.empty()) break;
    comment.insert(0, split.comment + " ");
  }
  return comment;
}

void AddFields(const Lines& header, size_t begin, const std::string& owner,
               std::vector<PublicField>* fields) {
  const std::string of_all = CommentAbove(header, begin);
  const bool says = of_all.starts_with("Refused") || of_all.starts_with("Advisory");
  Scope scope(header, begin + 1, BodyEnd(header, begin));
  for (Declaration found; scope.Next(&found);) {
    const std::string name = FieldName(found.code);
    if (!name.empty()) {
      fields->push_back({owner, name, (says ? of_all : "") + found.comment});
    }
  }
}

// Returns the method that the code declares or defines; no name: none.
PublicMethod MethodIn(const Declaration& found) {
  PublicMethod method;
  method.comment = found.comment;
  method.text = found.code;
  method.is_virtual = found.code.starts_with("virtual ");
  for (const char* other : {"using ", "friend ", "struct ", "class ", "enum ", "template ",
                            "explicit ", "extern ", "inline ", "typedef "}) {
    if (found.code.starts_with(other)) return method;
  }
  const std::string plain = WithoutTemplateArguments(found.code);
  const size_t open = plain.find('(');
  const size_t assigned = plain.find('=');
  if (open == std::string::npos || assigned < open) return method;
  if (plain.find('~') < open || plain.find("operator") < open) return method;
  const std::string before = Trimmed(std::string_view(plain).substr(0, open));
  if (before.find(' ') != std::string::npos) method.name = LastWord(before);
  return method;
}

}  // namespace

std::vector<PublicField> OptionFields(const Lines& header) {
  std::vector<PublicField> fields;
  std::string outer;
  for (size_t i = 0; i < header.size(); i++) {
    const std::string name = BodyName(header[i]);
    if (name.empty()) continue;
    const bool nested = IndentOf(header[i]) > 0;
    if (!nested) outer = name;
    if (HoldsOptions(name)) AddFields(header, i, nested ? outer + "::" + name : name, &fields);
  }
  return fields;
}

std::vector<PublicMethod> MethodsOf(const std::string& class_name, const Lines& header) {
  std::vector<PublicMethod> methods;
  for (size_t i = 0; i < header.size(); i++) {
    if (BodyName(header[i]) != class_name) continue;
    size_t end = BodyEnd(header, i);
    for (size_t line = i; line < end; line++) {
      if (header[line] == " private:" || header[line] == " protected:") end = line;
    }
    Scope scope(header, i + 1, end);
    for (Declaration found; scope.Next(&found);) {
      PublicMethod method = MethodIn(found);
      if (!method.name.empty()) methods.push_back(std::move(method));
    }
  }
  return methods;
}

std::vector<PublicMethod> ExportedFunctions(const Lines& header) {
  std::vector<PublicMethod> functions;
  for (size_t i = 0; i < header.size(); i++) {
    if (!header[i].starts_with("VARVE_EXPORT ")) continue;
    Scope scope(header, i, header.size());
    Declaration found;
    if (!scope.Next(&found)) continue;
    found.comment = CommentAbove(header, i);
    found.code.erase(0, std::string_view("VARVE_EXPORT ").size());
    PublicMethod function = MethodIn(found);
    if (!function.name.empty()) functions.push_back(std::move(function));
  }
  return functions;
}

bool Refuses(const std::string& body, const std::string& name) {
  const size_t answer = body.find("return ", std::min(body.find('{'), body.size()));
  return answer != std::string::npos &&
         body.substr(answer).starts_with("return Status::NotSupported(\"" + name);
}

}  // namespace varve::tidy
