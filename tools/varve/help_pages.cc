// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/help_pages.h"

#include <string>

#include <CLI/CLI.hpp>

#include "varve/env.h"
#include "varve/version.h"

#include "tools/varve/output.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

// Protects what troff would take for a request or an escape. "\-" is a hyphen that can be copied
// into a shell; a plain one may become a dash. "\&" is an empty character that keeps a dot or an
// apostrophe from beginning a request.
std::string Troff(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\\') {
      shown += "\\e";
    } else if (c == '-') {
      shown += "\\-";
    } else if (c == '\n') {
      shown += "\n.br\n";
    } else {
      shown += c;
    }
  }
  return shown.starts_with('.') || shown.starts_with('\'') ? "\\&" + shown : shown;
}

std::string Heading(const std::string& name) {
  return ".TH " + name + " 1 \"\" \"Varve " + GetVarveVersionAsString() + "\"\n";
}

void AddOptions(const CLI::App& app, std::string* page) {
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string name = positional ? option->get_name(true) : option->get_name(false, true);
    *page += ".TP\n.B " + Troff(name);
    if (!positional && option->get_items_expected_max() > 0) *page += " \\fIVALUE\\fR";
    *page += "\n" + Troff(option->get_description());
    *page += option->get_required() ? " (required)\n" : "\n";
  }
}

std::string PageOf(const CLI::App& app, const CLI::App& sub) {
  const std::string name = "varve-" + sub.get_name();
  std::string page = Heading(name) + ".SH NAME\n" + Troff(name) + " \\- " +
                     Troff(sub.get_description()) + "\n.SH SYNOPSIS\n.B varve " + sub.get_name() +
                     "\n[OPTIONS]";
  for (const CLI::Option* option : sub.get_options()) {
    if (option->get_positional()) page += " " + option->get_name(true);
  }
  page += "\n.SH OPTIONS\n";
  AddOptions(sub, &page);
  return page + ".SH NOTES\n" + Troff(app.get_footer()) + "\n.SH SEE ALSO\n.BR varve (1)\n";
}

std::string MainPage(const CLI::App& app) {
  std::string page = Heading("varve") + ".SH NAME\nvarve \\- shows, checks and mends databases\n" +
                     ".SH SYNOPSIS\n.B varve\nCOMMAND [OPTIONS]\n.SH DESCRIPTION\n" +
                     Troff(app.get_description()) + "\n.SH COMMANDS\n";
  for (const CLI::App* sub : app.get_subcommands({})) {
    page += ".TP\n.BR varve\\-" + sub->get_name() + " (1)\n" + Troff(sub->get_description()) + "\n";
  }
  page += ".SH OPTIONS\n";
  AddOptions(app, &page);
  return page + ".SH NOTES\n" + Troff(app.get_footer()) + "\n";
}

std::string WordsOf(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  }
  return words;
}

}  // namespace

Status WriteManPages(const CLI::App& app, const std::string& directory) {
  Env* const env = Env::Default();
  VARVE_RETURN_IF_ERROR(
      WriteStringToFile(env, MainPage(app), directory + "/varve.1", /*should_sync=*/false));
  for (const CLI::App* sub : app.get_subcommands({})) {
    const std::string path = directory + "/varve-" + sub->get_name() + ".1";
    VARVE_RETURN_IF_ERROR(WriteStringToFile(env, PageOf(app, *sub), path, /*should_sync=*/false));
  }
  return Status::OK();
}

Status PrintCompletion(const CLI::App& app) {
  Output out(1);
  std::string commands;
  for (const CLI::App* sub : app.get_subcommands({})) commands += " " + sub->get_name();
  out.Append("_varve() {\n  local word=${COMP_WORDS[COMP_CWORD]} words=\n");
  out.Append("  if ((COMP_CWORD == 1)); then\n    words='" + commands + WordsOf(app) + "'\n");
  out.Append("  elif [[ $word == -* ]]; then\n    case ${COMP_WORDS[1]} in\n");
  for (const CLI::App* sub : app.get_subcommands({})) {
    out.Append("      " + sub->get_name() + ") words='" + WordsOf(*sub) + "' ;;\n");
  }
  out.Append(
      "    esac\n  else\n    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n    return\n  "
      "fi\n");
  out.Append("  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n");
  out.Append("complete -o filenames -F _varve varve\n");
  out.Flush();
  return Status::OK();
}

}  // namespace varve::tool
