// Reads SQLite databases through the system's library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace recpack::probe {

// A row of a query's result. Valid within the call that it is given to.
class SqliteRow {
 public:
  virtual int64_t Integer(int column) const = 0;        // NULL: 0
  virtual std::string_view Text(int column) const = 0;  // NULL: empty
  virtual bool IsNull(int column) const = 0;

 protected:
  ~SqliteRow() = default;
};

// A database, opened for reading. Not thread-safe.
class SqliteFile {
 public:
  // Loads libsqlite3.so.0. Throws Error: kNotFound, kIo, kCorrupt; kUnsupported without the
  // library.
  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;

  // Calls `take` for each row of the result. Throws Error (kCorrupt) with SQLite's message.
  void Query(const std::string& sql, const std::function<void(const SqliteRow& row)>& take);

  bool HasTable(const std::string& table);
  // Returns `column`, or "NULL" if the table has no such column.
  std::string ColumnOrNull(const std::string& table, const std::string& column);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
