// SPDX-License-Identifier: Apache-2.0
/// @file own_workspace.cpp
/// A user-defined workspace for scattered results: insert-sort-merge with a binary heap as its accumulation
/// array, after Buluç and Gilbert, *On the Representation and Multiplication of Hypersparse Matrices* (IPDPS
/// 2008).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <sporos/sporos.hpp>
#include <string_view>
#include <vector>

using namespace sporos;
using namespace sporos::indices;

struct HeapPolicy {
  static constexpr std::string_view name = "heap workspace";
  static constexpr bool takes(int order) { return order >= 1; }
  template <class T, int Order>
  using workspace = InsertSortMerge<HeapPolicy, T, Order>;

  AccumulationSettings settings{};

  /// The accumulation array: components, with the smallest on top.
  template <class Keys, class T>
  class accumulation {
   public:
    using key_type = typename Keys::key_type;
    struct Component {
      key_type key;
      T value;
      std::int64_t number;  ///< values with the same key are summed in the order in which they were inserted
    };

    accumulation(const HeapPolicy&, const Keys&) {}

    static std::int64_t bytes(const HeapPolicy&, const Keys&, std::int64_t capacity) {
      return capacity * static_cast<std::int64_t>(sizeof(Component));
    }
    void resize(std::int64_t capacity) {
      capacity_ = 0;
      heap_ = {};
      heap_.reserve(static_cast<std::size_t>(capacity));
      capacity_ = static_cast<std::size_t>(capacity);
    }
    bool insert(const key_type& key, const T& value) {
      if (heap_.size() == capacity_) return false;
      heap_.push_back({key, value, inserted_++});
      std::push_heap(heap_.begin(), heap_.end(), comes_after);
      return true;
    }
    std::int64_t size() const { return static_cast<std::int64_t>(heap_.size()); }

    /// The components in order, with each key once.
    struct Run {
      const detail::CountedVector<Component>* components;
      std::int64_t size() const { return static_cast<std::int64_t>(components->size()); }
      const key_type& key(std::int64_t n) const { return (*components)[static_cast<std::size_t>(n)].key; }
      const T& value(std::int64_t n) const { return (*components)[static_cast<std::size_t>(n)].value; }
    };
    Run sort() {
      std::sort_heap(heap_.begin(), heap_.end(), comes_after);
      std::reverse(heap_.begin(), heap_.end());
      std::size_t kept = 0;
      for (const Component& next : heap_) {
        if (kept > 0 && heap_[kept - 1].key == next.key)
          heap_[kept - 1].value = plus(heap_[kept - 1].value, next.value);
        else
          heap_[kept++] = next;
      }
      heap_.resize(kept);  // ascending, which is also a valid heap
      return {&heap_};
    }
    void clear() { heap_.clear(); }

   private:
    static bool comes_after(const Component& a, const Component& b) {
      return b.key < a.key || (a.key == b.key && b.number < a.number);
    }

    detail::CountedVector<Component> heap_;
    std::size_t capacity_ = 0;
    std::int64_t inserted_ = 0;
  };
};
static_assert(AccumulationPolicy<HeapPolicy>);

int main(int argc, char** argv) {
  const ScopeGuard guard(argc, argv);
  try {
    // A tensor times a sparse matrix over its outermost mode: results arrive in no particular order.
    constexpr std::int64_t n = 60;
    Entries<double, 3> entries({n, n, n}, 2000);
    for (std::int64_t e = 0; e < entries.size(); ++e)
      entries.set(e, {e * 7 % n, e * 11 % n, (e * 13 + e / n) % n}, 1.0 + static_cast<double>(e % 5));
    const auto T = assemble<CSF<3>>(entries);
    Entries<double, 2> factor({n, n}, 3 * n);
    for (std::int64_t e = 0; e < factor.size(); ++e) factor.set(e, {e % n, e * 17 % n}, 0.5);
    const auto C = assemble<CSR<>>(factor);

    const Tensor<double, CSF<3>> A({n, n, n}), B({n, n, n});
    const auto statement =
        assign(A(j, k, l), T(i, j, k) * C(i, l)).reorder(i, j, k, l).workspace(HeapPolicy{});
    std::cout << explain(statement);
    statement.run();

    assign(B(j, k, l), T(i, j, k) * C(i, l)).run();
    double difference = A.nnz() == B.nnz() ? 0 : 1;
    for (std::int64_t e = 0; e < std::min(A.nnz(), B.nnz()); ++e)
      difference = std::max(difference, std::abs(A.values()(e) - B.values()(e)));
    std::cout << A.nnz() << " values, largest difference to the library's workspace: " << difference << "\n";
    return difference < 1e-12 ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
