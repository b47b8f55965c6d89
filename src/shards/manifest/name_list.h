// Compact list of names, which stores numbered names as runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recpack {

// Iterator over a list that returns its elements by value.
template <typename List>
class ValueIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = decltype(std::declval<const List&>()[0]);
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  ValueIterator() = default;
  ValueIterator(const List& list, size_t at) : list_(&list), at_(at) {}
  value_type operator*() const { return (*list_)[at_]; }
  ValueIterator& operator++() {
    ++at_;
    return *this;
  }
  ValueIterator operator++(int) { return {*list_, at_++}; }
  bool operator==(const ValueIterator& other) const { return at_ == other.at_; }

 private:
  const List* list_ = nullptr;
  size_t at_ = 0;
};

// Stores consecutive names or paths such as "train-00000-of-00012.tfrecord",
// "train-00001-of-00012.tfrecord", ... as one run, so that 400,000 shards take a few bytes; any
// other name is its own run. Elements are returned by value: do not keep references. Concurrent
// reads are safe.
class NameList {
 public:
  NameList() = default;
  NameList(std::initializer_list<std::string_view> names);
  explicit NameList(const std::vector<std::string>& names);

  void push_back(std::string_view name);

  // O(log runs).
  std::string operator[](size_t i) const;
  // Returns the index of the first such name. O(runs).
  std::optional<size_t> Find(std::string_view name) const;
  std::string front() const { return (*this)[0]; }
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  ValueIterator<NameList> begin() const { return {*this, 0}; }
  ValueIterator<NameList> end() const { return {*this, size_}; }
  bool operator==(const NameList&) const = default;

 private:
  // `before`, a number of at least `digits` digits, `after`; no number if digits is 0.
  struct Run {
    std::string before;
    std::string after;
    size_t digits = 0;
    uint64_t number = 0;  // number in its first name
    size_t begin = 0;     // index of its first name
    std::string Name(size_t i) const;
    bool operator==(const Run&) const = default;
  };
  static Run NewRun(std::string_view name, size_t begin);

  std::vector<Run> runs_;
  size_t size_ = 0;
};

}  // namespace recpack
