// SPDX-License-Identifier: Apache-2.0
/// @file fiber_runs.hpp
/// Runs that are multiples of an operand's fibers; they are inserted without their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "../../core/inline.hpp"
#include "../../core/level.hpp"
#include "../../core/pool.hpp"
#include "../../formats/keys.hpp"
#include "../host/sparse_rows.hpp"
#include "../nest/loop_nest.hpp"
#include "../nest/lower.hpp"
#include "../nest/nest_run.hpp"
#include "runs.hpp"

namespace sporos {

namespace stream {

/// The number by which an expression multiplies its only operand, or One.
template <class E>
SPOROS_INLINE auto multiple_of_operand(const E& e) {
  if constexpr (AnyLeaf<E>) {
    return One{};
  } else if constexpr (is_loaded<E>) {
    return e;
  } else if constexpr (is_negation<E>) {
    const auto number = multiple_of_operand(e.operand);
    if constexpr (std::is_same_v<std::remove_const_t<decltype(number)>, One>)
      return Loaded<typename E::compute>{-typename E::compute(1)};
    else
      return e.operation(number);
  } else {
    return times(multiple_of_operand(e.left), multiple_of_operand(e.right));
  }
}
/// The position of the only operand of an expression.
template <class E>
SPOROS_INLINE std::int64_t position_of_operand(const E& e) {
  if constexpr (AnyLeaf<E>)
    return e.begin;
  else if constexpr (is_negation<E>)
    return position_of_operand(e.operand);
  else if constexpr (is_loaded<decltype(E::left)>)
    return position_of_operand(e.right);
  else
    return position_of_operand(e.left);
}

}  // namespace stream

namespace detail {

/// Whether an expression is a product of operands and numbers, or the negative of one.
template <class Source>
constexpr bool is_plain_product() {
  if constexpr (stream::is_product<Source>)
    return is_plain_product<decltype(Source::left)>() && is_plain_product<decltype(Source::right)>();
  else if constexpr (stream::is_negation<Source>)
    return is_plain_product<decltype(Source::operand)>();
  else
    return stream::is_loaded<Source> || requires { typename Source::access; };
}

/// Whether the loop over `variable` runs along fibers of an operand: the segments of its last level.
template <class A>
constexpr bool has_fibers(char variable) {
  using F = typename A::format;
  constexpr int last = F::levels - 1;
  if constexpr (is_part_v<typename A::tensor_type> || F::is_blocked ||
                !StoresSegments<typename F::template level<last>>) {
    return false;
  } else {
    constexpr LevelProperties properties = F::properties[static_cast<std::size_t>(last)];
    if (!properties.ordered || !properties.unique) return false;
    if (last > 0 && !F::properties[static_cast<std::size_t>(std::max(last - 1, 0))].unique) return false;
    for (int k = 0; k < last; ++k)
      if (A::level_names[k] == variable) return false;
    return A::level_names[last] == variable;
  }
}

/// The only access of a list that has `Variable`; void if there are several, or none.
template <char Variable, class List>
struct TheOneWith {
  using type = void;
};
template <char Variable, class First, class... Rest>
struct TheOneWith<Variable, TypeList<First, Rest...>> {
  static constexpr bool has = First::names.contains(Variable);
  static constexpr bool others_have = (Rest::names.contains(Variable) || ...);
  using of_others = typename TheOneWith<Variable, TypeList<Rest...>>::type;
  using type = std::conditional_t<has, std::conditional_t<others_have, void, First>, of_others>;
};

/// The access along whose fibers the innermost loop of a nest runs, if everything else is a number by then,
/// so that the loop adds a multiple of a fiber to the result; otherwise void.
template <class Nest>
struct FiberAccess {
  template <class N = Nest>
  static constexpr char innermost() {
    return N::loops > 0 ? N::Order::names[N::loops - 1] : no_variable;
  }
  using Candidate = typename TheOneWith<innermost(), accesses_of<typename Nest::Right>>::type;
  template <class A>
  static constexpr bool takes() {
    if constexpr (std::is_void_v<A> || Nest::classification.bound_depth != Nest::loops ||
                  !is_plain_product<typename Nest::Source>())
      return false;
    else
      return std::is_same_v<std::remove_const_t<typename A::value_type>, typename Nest::Compute> &&
             has_fibers<A>(innermost());
  }
  using type = std::conditional_t<takes<Candidate>(), Candidate, void>;
};

/// The fibers of that access: the rows of a matrix.
template <class S>
auto fibers_of(const S& statement) {
  using A = typename FiberAccess<NestOf<S>>::type;
  constexpr int last = A::format::levels - 1;
  using Level = typename A::format::template level<last>;
  SparseRows<std::remove_const_t<typename A::value_type>, typename Level::position_type,
             typename Level::coordinate_type>
      out;
  for_each_access(statement.right(), [&](const auto& access) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(access)>, A>) {
      const auto& tensor = access.tensor();
      const auto segments = tensor.template level<last>().segments();
      out = {static_cast<std::int64_t>(segments.positions.extent(0)) - 1,
             A::format::level_extents(tensor.extents())[last], segments.positions.data(),
             segments.coordinates.data(), tensor.values().data()};
    }
  });
  return out;
}

/// Where the next run of a chunk is inserted.
template <class T>
struct FiberCursor {
  Key* rows;
  T* factors;
  std::int32_t* fibers;
  const Key* end;

  SPOROS_HOST_INLINE void insert(Key row, const T& factor, std::int64_t fiber) {
    ensure(rows < end, "a chunk gives no more runs than its bound");
    *rows++ = row;
    *factors++ = factor;
    *fibers++ = static_cast<std::int32_t>(fiber);
  }
};

/// The accumulation array of such runs: run n adds factors[n] times fiber fibers[n] to row rows[n]. Each
/// chunk has its own part, whatever the number of threads.
///
///     A(i, j) = B(i, k) * C(k, j), loops k, i, j
///
///     chunk        0: k = 0, 1    1: k = 2
///     rows         2 5 0 2 -      1 3           coordinates i, or no_key for room that was not needed
///     factors      b c d e -      f g           of B
///     fibers       0 0 1 1 -      2 2           rows of C
template <class T>
class FiberArray {
 public:
  /// The part of a chunk.
  struct Part {
    std::int64_t begin = 0, end = 0;
  };

  /// Makes room for `capacity` runs; memory that is not written is not touched.
  explicit FiberArray(std::int64_t capacity)
      : rows_(pool().reserve<Key>("sporos::rows of runs", capacity)),
        factors_(pool().reserve<T>("sporos::factors of runs", capacity)),
        fibers_(pool().reserve<std::int32_t>("sporos::fibers of runs", capacity)) {}

  FiberCursor<T> cursor(const Part& part) const {
    return {rows_.data() + part.begin, factors_.data() + part.begin, fibers_.data() + part.begin,
            rows_.data() + part.end};
  }
  /// Marks what a cursor has left unused of a part.
  void close(const Part& part, const FiberCursor<T>& cursor) const {
    std::fill(cursor.rows, rows_.data() + part.end, no_key);
  }
  /// Returns the memory to the pool; at most `used` runs of it have been written.
  void release(std::int64_t used) {
    pool().keep(rows_, used);
    pool().keep(factors_, used);
    pool().keep(fibers_, used);
    *this = FiberArray(0);
  }

  const Key* rows() const { return rows_.data(); }
  const T* factors() const { return factors_.data(); }
  const std::int32_t* fibers() const { return fibers_.data(); }

 private:
  HostArray<Key> rows_;
  HostArray<T> factors_;
  HostArray<std::int32_t> fibers_;
};

/// Such runs, in the order of their rows.
template <class T>
struct FibersOfRuns {
  HostArray<std::int32_t> fibers;  // [count]
  HostArray<T> factors;            // [count]

  void make(std::int64_t count) {
    fibers = pool().array<std::int32_t>("sporos::fibers", count);
    factors = pool().array<T>("sporos::factors", count);
  }
};

/// Counts how many runs each row has.
struct CountingCursor {
  std::int32_t* counts;  ///< the number of runs of each row
  int shift;             ///< number of bits of a key below those of the row

  template <class T>
  SPOROS_HOST_INLINE void insert(Key row, const T&, std::int64_t) {
    ++counts[row >> shift];
  }
};

/// Puts each run in its place in the order of rows.
template <class T>
struct PlacingCursor {
  std::int32_t* next;  ///< the place of the next run of each row
  int shift;           ///< number of bits of a key below those of the row
  std::int32_t* fibers;
  T* factors;

  SPOROS_HOST_INLINE void insert(Key row, const T& factor, std::int64_t fiber) {
    const std::int32_t place = next[row >> shift]++;
    fibers[place] = static_cast<std::int32_t>(fiber);
    factors[place] = factor;
  }
};

}  // namespace detail

/// Inserts runs that are multiples of fibers with a cursor, in place of the innermost loop.
/// @tparam F       the format of the result, whose last level is that of the innermost loop
/// @tparam Cursor  has insert(row, factor, fiber)
template <class Traits_, class F, class T, class Cursor>
struct FiberOutput : InsertingOutput<FiberOutput<Traits_, F, T, Cursor>, Traits_, F, Cursor> {
  static constexpr bool takes_innermost = true;
  using Inserting = InsertingOutput<FiberOutput, Traits_, F, Cursor>;
  using Inserting::Inserting;

  SPOROS_MAY_CALL_HOST
  template <class E, class Env>
  SPOROS_INLINE void add_innermost(const E& e, const Env& env) const {
    this->cursor->insert(this->row_of(env), factor_of(stream::multiple_of_operand(e)),
                         stream::position_of_operand(e));
  }

 private:
  SPOROS_INLINE static T factor_of(const stream::One&) { return T{1}; }
  SPOROS_INLINE static T factor_of(const stream::Loaded<T>& number) { return number.value; }
};

}  // namespace sporos
