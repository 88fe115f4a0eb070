// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the commands. Each prints to the console, and returns an error if it cannot go on;
// damage and differences that it looked for are no errors (Console::found).

#include "varve/status.h"

#include "tools/varve/console.h"
#include "tools/varve/request.h"

namespace varve::tool {

// Reading: no byte is written, and a process that writes to the database is not disturbed.
Status RunInfo(const Request& request, Console* console);
Status RunGet(const Request& request, Console* console);
Status RunScan(const Request& request, Console* console);
Status RunDump(const Request& request, Console* console);
Status RunCheck(const Request& request, Console* console);
Status RunSst(const Request& request, Console* console);
Status RunLog(const Request& request, Console* console);
Status RunManifest(const Request& request, Console* console);
Status RunFamilies(const Request& request, Console* console);
// These two read the metrics text of a running process, and no database.
Status RunTop(const Request& request, Console* console);
Status RunWhySlow(const Request& request, Console* console);
// Prints a page of HTML.
Status RunReport(const Request& request, Console* console);
// Answers requests until a signal ends it.
Status RunServeMetrics(const Request& request, Console* console);

// Writing into another directory: the database is only read.
Status RunCheckpoint(const Request& request, Console* console);
Status RunBackup(const Request& request, Console* console);

// Changing the database.
Status RunPut(const Request& request, Console* console);
Status RunDelete(const Request& request, Console* console);
Status RunLoad(const Request& request, Console* console);
Status RunIngest(const Request& request, Console* console);
Status RunCompact(const Request& request, Console* console);
Status RunReduceLevels(const Request& request, Console* console);
Status RunRepair(const Request& request, Console* console);
Status RunRestore(const Request& request, Console* console);
Status RunGarbage(const Request& request, Console* console);

}  // namespace varve::tool
