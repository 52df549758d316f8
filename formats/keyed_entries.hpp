// SPDX-License-Identifier: Apache-2.0
/// @file keyed_entries.hpp
/// Entries with packed coordinates, read block by block: the input of sorting and of the Builder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../core/array.hpp"
#include "keys.hpp"

namespace sporos::detail {

/// A list of keys and values in some order. A single virtual function, which reads the next few entries,
/// hides where they come from. Code that works on entries is thus compiled once for each type of value,
/// whatever the number of kinds of lists, and still runs over plain arrays.
template <class Value>
class KeyedEntries {
 public:
  /// Number of entries that a list packs at a time: few enough that reading and writing alternate within a
  /// page, which keeps the prefetchers of both going.
  static constexpr std::int64_t most = 64;

  struct Buffer {
    Key keys[most];
  };

  struct Block {
    const Key* keys;
    const Value* values;
    std::int64_t count;
  };

  KeyedEntries() = default;
  KeyedEntries(const KeyedEntries&) = default;
  KeyedEntries& operator=(const KeyedEntries&) = default;
  virtual ~KeyedEntries() = default;

  /// Whether all of the `size()` entries are visited.
  static constexpr bool is_exact = true;

  virtual std::int64_t size() const = 0;

  /// Reads some of the entries [begin, end), starting with the first; at least one.
  virtual Block read(std::int64_t begin, std::int64_t end, Buffer& buffer) const = 0;

  /// All values in order, if they are in an array that a tensor may take over.
  virtual const Array<Value>* values() const { return nullptr; }

  Key key(std::int64_t e) const {
    Buffer buffer;
    return read(e, e + 1, buffer).keys[0];
  }

  /// Calls visitor(key, value) for the entries [begin, end), in order.
  template <class Visitor>
  void visit(std::int64_t begin, std::int64_t end, const Visitor& visitor) const {
    Buffer buffer;
    while (begin < end) {
      const Block block = read(begin, end, buffer);
      for (std::int64_t e = 0; e < block.count; ++e) visitor(block.keys[e], block.values[e]);
      begin += block.count;
    }
  }
};

/// Keys and the values that go with them, in two arrays.
template <class Value>
struct Items {
  Key* keys = nullptr;
  Value* values = nullptr;

  Items operator+(std::int64_t offset) const { return {keys + offset, values + offset}; }
  void set(std::int64_t at, Key key, const Value& value) const {
    keys[at] = key;
    values[at] = value;
  }
  void copy_to(const Items& to, std::int64_t count) const {
    std::copy(keys, keys + count, to.keys);
    std::copy(values, values + count, to.values);
  }
};

/// Items in memory, as a list of entries.
template <class Value>
class ItemRun final : public KeyedEntries<Value> {
 public:
  ItemRun(const Items<Value>& items, std::int64_t count) : items_(items), count_(count) {}

  std::int64_t size() const override { return count_; }
  typename KeyedEntries<Value>::Block read(std::int64_t begin, std::int64_t end,
                                           typename KeyedEntries<Value>::Buffer&) const override {
    return {items_.keys + begin, items_.values + begin, end - begin};
  }

 private:
  Items<Value> items_;
  std::int64_t count_;
};

}  // namespace sporos::detail
