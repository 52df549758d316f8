// SPDX-License-Identifier: Apache-2.0
/// @file oracle.hpp
/// The oracle of index notation: dense tensors of terms, computed by loops over every coordinate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporos/core/tensor.hpp>
#include <string>
#include <vector>

namespace sporos::test {

/// A number, and whether it is present: stored nonzeros are, and everything computed from them. So the oracle
/// knows the pattern of a sparse result as well as its values.
template <class T>
struct Term {
  T value{};
  bool present = false;
};

/// The type in which the oracle computes with `T`: exact for the small integers that tests use.
template <class T>
struct OracleValue {
  using type = T;
};
template <>
struct OracleValue<half> {
  using type = float;
};
template <>
struct OracleValue<bfloat16> {
  using type = float;
};
template <class T>
using oracle_value = typename OracleValue<T>::type;

template <class T>
Term<T> operator*(const Term<T>& a, const Term<T>& b) {
  if (!a.present || !b.present) return {};
  return {static_cast<T>(a.value * b.value), true};
}
template <class T>
Term<T> operator+(const Term<T>& a, const Term<T>& b) {
  if (!a.present) return b;
  if (!b.present) return a;
  return {static_cast<T>(a.value + b.value), true};
}
template <class T>
Term<T> operator-(const Term<T>& a) {
  return {static_cast<T>(-a.value), a.present};
}
template <class T>
Term<T> operator-(const Term<T>& a, const Term<T>& b) {
  return a + (-b);
}
template <class T>
Term<T> operator/(const Term<T>& a, const Term<T>& b) {
  if (!a.present || !b.present) return {};
  return {static_cast<T>(a.value / b.value), true};
}
template <class T>
Term<T> operator/(const Term<T>& a, int scalar) {
  return a / Term<T>{static_cast<T>(scalar), true};
}
template <class T, class F>
Term<T> map(const F& function, const Term<T>& a) {
  return {a.present ? static_cast<T>(function(a.value)) : T{}, a.present};
}
template <class T>
Term<T> operator*(int scalar, const Term<T>& a) {
  return Term<T>{static_cast<T>(scalar), true} * a;
}
template <class T>
Term<T> operator+(const Term<T>& a, int scalar) {
  return a + Term<T>{static_cast<T>(scalar), true};
}

/// The sum of term(0) to term(count - 1).
template <class F>
auto sum(std::int64_t count, const F& term) {
  decltype(term(std::int64_t{0})) total{};
  for (std::int64_t at = 0; at < count; ++at) total = total + term(at);
  return total;
}

/// A dense tensor of terms, the last mode contiguous.
template <class T>
struct Oracle {
  std::vector<std::int64_t> extents;
  std::vector<Term<T>> terms;

  explicit Oracle(std::vector<std::int64_t> shape) : extents(std::move(shape)) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    terms.resize(static_cast<std::size_t>(count));
  }

  template <class... Coordinates>
  const Term<T>& operator()(Coordinates... at) const {
    return terms[offset({static_cast<std::int64_t>(at)...})];
  }
  std::size_t offset(const std::vector<std::int64_t>& at) const {
    std::int64_t offset = 0;
    for (std::size_t mode = 0; mode < at.size(); ++mode) offset = offset * extents[mode] + at[mode];
    return static_cast<std::size_t>(offset);
  }
  std::vector<std::int64_t> coordinate(std::size_t offset) const {
    std::vector<std::int64_t> at(extents.size());
    auto rest = static_cast<std::int64_t>(offset);
    for (std::size_t mode = extents.size(); mode-- > 0; rest /= extents[mode])
      at[mode] = rest % extents[mode];
    return at;
  }
};

/// The result of reading a tensor: its terms, and what is wrong with its structure ("" if nothing is).
template <class T>
struct Reading {
  Oracle<T> terms;
  std::string fault;
};

namespace detail {

/// Reads a tensor level by level through the capabilities of its levels, and trusts nothing.
template <class TensorType>
class Reader {
 public:
  using F = typename TensorType::format_type;
  using T = oracle_value<typename TensorType::value_type>;

  explicit Reader(const TensorType& t)
      : tensor_(t),
        extents_(t.extents()),
        level_extents_(F::level_extents(t.extents())),
        out_{Oracle<T>({t.extents().begin(), t.extents().end()}), {}} {
    check_arrays();
    if (out_.fault.empty()) walk<0>(0);
    if (out_.fault.empty() && read_ != t.nnz())
      fault(text(t.nnz(), " values, of which ", read_, " were reached"));
  }

  Reading<T> take() { return std::move(out_); }

 private:
  void fault(const std::string& what) {
    if (out_.fault.empty()) out_.fault = what;
  }

  void check_arrays() {
    std::int64_t parents = 1;
    tensor_.for_each_level([&](auto k, const auto& storage) {
      using Level = typename F::template level<k>;
      const auto level = storage.view();
      if constexpr (Level::properties.full) {
        if (level.coord_bounds(0) != Bounds{0, level_extents_[k]})
          fault(text("level ", int{k}, " has extent ", level.coord_bounds(0).end));
      } else {
        const std::int64_t count = storage.size(parents);
        if constexpr (StoresSegments<Level>)
          if (const auto held = static_cast<std::int64_t>(storage.segments().positions.extent(0));
              held != parents + 1)
            return fault(text("level ", int{k}, ": ", held, " positions, ", parents, " parents"));
        if (Level::properties.branchless && count != parents)
          return fault(text("level ", int{k}, ": ", count, " coordinates, ", parents, " parents"));
        std::int64_t end = 0;
        for (std::int64_t p = 0; p < parents; ++p) {
          const Bounds segment = level.pos_bounds(p);
          if (segment.begin != end || segment.end < end)
            return fault(text("level ", int{k}, ": positions ", segment.begin, " to ", segment.end,
                              " below parent ", p, " follow ", end));
          end = segment.end;
        }
        if (end != count)
          return fault(text("level ", int{k}, ": positions end at ", end, ", not at ", count));
      }
      parents = storage.size(parents);
    });
    if (tensor_.nnz() != parents) fault(text(tensor_.nnz(), " values for ", parents, " positions"));
  }

  template <int K>
  void walk(std::int64_t p) {
    if constexpr (K == F::levels) {
      take(p);
    } else {
      constexpr auto k = static_cast<std::size_t>(K);
      const auto level = tensor_.template level<K>().view();
      if constexpr (F::template level<K>::properties.full) {
        for (at_[k] = 0; at_[k] < level_extents_[k]; ++at_[k]) walk<K + 1>(level.locate(p, at_[k]).position);
      } else {
        const Bounds bounds = level.pos_bounds(p);
        for (std::int64_t q = bounds.begin; q < bounds.end; ++q) {
          at_[k] = level.coord_at(q);
          if (at_[k] < 0 || at_[k] >= level_extents_[k])
            return fault(text("level ", K, ": coordinate ", at_[k], " of ", level_extents_[k]));
          const std::int64_t before = read_;
          walk<K + 1>(q);
          if (read_ == before) return fault(text("level ", K, ": nothing below coordinate ", at_[k]));
        }
      }
    }
  }

  void take(std::int64_t p) {
    if (read_++ > 0) {
      const bool ascends = F::is_unique ? last_ < at_ : last_ <= at_;
      if (!ascends) return fault(text(coordinate_text(at_), " after ", coordinate_text(last_)));
    }
    last_ = at_;
    const auto value = static_cast<T>(tensor_.values()(static_cast<std::size_t>(p)));
    const auto coordinate = F::coordinate(at_);
    for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
      if (coordinate[mode] >= extents_[mode]) {  // the padding of a block at the edge
        if (value != T{}) fault(text("a value outside, at ", coordinate_text(coordinate)));
        return;
      }
    Term<T>& term = out_.terms.terms[out_.terms.offset({coordinate.begin(), coordinate.end()})];
    term = term + Term<T>{value, true};
  }

  const TensorType& tensor_;
  Extents<F::order> extents_;
  Extents<F::levels> level_extents_;
  Extents<F::levels> at_{};
  Extents<F::levels> last_{};
  std::int64_t read_ = 0;
  Reading<T> out_;
};

}  // namespace detail

/// The terms of a tensor on the host, and whether its arrays obey the rules of its format.
template <class TensorType>
auto read(const TensorType& t) {
  return detail::Reader<TensorType>(t).take();
}

}  // namespace sporos::test
