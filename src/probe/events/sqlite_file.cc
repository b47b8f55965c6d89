#include "src/probe/events/sqlite_file.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/shared_library.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

// What is used of SQLite's C interface (https://sqlite.org/c3ref/intro.html), which is stable since
// 2004. Opaque there as well.
struct Database;
struct Statement;

constexpr int kOk = 0, kRow = 100, kDone = 101;
// Results for which the file is not to blame: permission, busy, locked, memory, I/O, open.
constexpr int kNotOfFile[] = {3, 5, 6, 7, 10, 14};
constexpr int kReadOnly = 1;
constexpr int kNullType = 5;

struct Api {
  Api()
      : library("libsqlite3.so.0", "",
                "install SQLite's library (Debian: libsqlite3-0), which exports of Nsight Systems "
                "are read with") {
    library.Find(open, "sqlite3_open_v2");
    library.Find(close, "sqlite3_close_v2");
    library.Find(message, "sqlite3_errmsg");
    library.Find(prepare, "sqlite3_prepare_v2");
    library.Find(step, "sqlite3_step");
    library.Find(finalize, "sqlite3_finalize");
    library.Find(type, "sqlite3_column_type");
    library.Find(integer, "sqlite3_column_int64");
    library.Find(text, "sqlite3_column_text");
    library.Find(bytes, "sqlite3_column_bytes");
  }

  SharedLibrary library;
  int (*open)(const char* path, Database** database, int flags, const char* vfs) = nullptr;
  int (*close)(Database* database) = nullptr;
  const char* (*message)(Database* database) = nullptr;
  int (*prepare)(Database* database, const char* sql, int bytes, Statement** statement,
                 const char** tail) = nullptr;
  int (*step)(Statement* statement) = nullptr;
  int (*finalize)(Statement* statement) = nullptr;
  int (*type)(Statement* statement, int column) = nullptr;
  int64_t (*integer)(Statement* statement, int column) = nullptr;
  const unsigned char* (*text)(Statement* statement, int column) = nullptr;
  int (*bytes)(Statement* statement, int column) = nullptr;
};

class Row final : public SqliteRow {
 public:
  Row(const Api& api, Statement* statement) : api_(api), statement_(statement) {}

  int64_t Integer(int column) const override { return api_.integer(statement_, column); }
  std::string_view Text(int column) const override {
    const auto* const text = reinterpret_cast<const char*>(api_.text(statement_, column));
    if (text == nullptr) return {};
    return {text, static_cast<size_t>(api_.bytes(statement_, column))};
  }
  bool IsNull(int column) const override { return api_.type(statement_, column) == kNullType; }

 private:
  const Api& api_;
  Statement* const statement_;
};

}  // namespace

struct SqliteFile::State {
  explicit State(std::string name) : path(std::move(name)) {}
  ~State() { api.close(database); }

  [[noreturn]] void Fail(int code) const {
    const bool damaged = std::ranges::find(kNotOfFile, code) == std::end(kNotOfFile);
    throw Error(damaged ? ErrorKind::kCorrupt : ErrorKind::kIo,
                format("SQLite: {}", api.message(database)), {.path = path},
                damaged ? "it was cut or damaged: export it again" : "");
  }

  const std::string path;
  Api api;
  Database* database = nullptr;
};

SqliteFile::SqliteFile(const std::string& path) : state_(std::make_unique<State>(path)) {
  PosixFiles().OpenForReading(path);  // refuses what is not there, and pipes and devices
  const int opened = state_->api.open(path.c_str(), &state_->database, kReadOnly, nullptr);
  if (opened != kOk) state_->Fail(opened);
}

SqliteFile::~SqliteFile() = default;

void SqliteFile::Query(const std::string& sql,
                       const std::function<void(const SqliteRow& row)>& take) {
  const Api& api = state_->api;
  Statement* statement = nullptr;
  if (const int code = api.prepare(state_->database, sql.c_str(), -1, &statement, nullptr);
      code != kOk) {
    state_->Fail(code);
  }
  const std::unique_ptr<Statement, int (*)(Statement*)> owner(statement, api.finalize);
  const Row row(api, statement);
  int code = kRow;
  while ((code = api.step(statement)) == kRow) take(row);
  if (code != kDone) state_->Fail(code);
}

bool SqliteFile::HasTable(const std::string& table) {
  bool found = false;
  Query(
      format("SELECT 1 FROM sqlite_master WHERE name = '{}' AND type IN ('table', 'view')", table),
      [&](const SqliteRow&) { found = true; });
  return found;
}

std::string SqliteFile::ColumnOrNull(const std::string& table, const std::string& column) {
  std::string name = "NULL";
  Query(format("SELECT name FROM pragma_table_info('{}')", table), [&](const SqliteRow& row) {
    if (row.Text(0) == column) name = column;
  });
  return name;
}

}  // namespace recpack::probe
