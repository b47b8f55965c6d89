// Reads and writes reports in folders of the disk and of object stores (s3://, gs://).
#pragma once

#include <string>
#include <vector>

#include "src/probe/report/kept_report.h"
#include "src/probe/report/report.h"

namespace recpack::tool {

// Throws Error, before the watch begins, if no report could be written to `folder`: as
// CheckReportFolder(), for a URL also kUnsupported and what the store says.
void CheckReportPlace(const std::string& folder);

// Writes the files as WriteReportFiles() does; `contents` begin with report.json. In a store each
// file is replaced atomically, and if another program wrote a report to the folder since
// CheckReportPlace(), this one goes to FOLDER-HOST-PID. Returns the folder written. Throws Error.
std::string PlaceReport(const std::string& folder, const std::vector<probe::ReportFile>& contents,
                        const std::string& earlier = "");

// Reads a report by its path or URL, or those of its folder. Throws as ReadReport().
probe::KeptReport FetchReport(const std::string& report);

// Throws Error if no report can come to be found there: it is a file, a web server, or in a bucket
// that does not exist or cannot be listed.
void CheckReportsFolder(const std::string& folder);

// Reads all reports in and below a folder. Throws as FindReports(); kUnsupported for web servers,
// which have no listing; kIo.
probe::FoundReports FetchReports(const std::string& folder);

}  // namespace recpack::tool
