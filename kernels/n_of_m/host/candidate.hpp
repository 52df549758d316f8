// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a dense and an N:M sparse matrix on the host, as a candidate for statements.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../../formats/chunks.hpp"
#include "../../nest/bounds.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "units.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), with B in NM<N, M, L> or its transpose in NM<N, M, L, 1> or TwoFour, A dense,
/// C dense and row-major, or an epilogue of such a product (kernels/epilogue/epilogue.hpp), by units.hpp. A
/// is first copied into panels of rows.
///
/// Where a window stores a place without an entry, it holds a zero that is multiplied by an element of A: if
/// that is infinite or NaN, the result becomes NaN.
struct NmByUnits {
  struct Operands {
    template <class S>
    static constexpr bool admits() {
      return []<class... Accesses>(TypeList<Accesses...>) {
        return HostSpace<typename S::result_type::tensor_type::space_type> &&
               (HostSpace<typename Accesses::tensor_type::space_type> && ...);
      }(accesses_of<typename S::right_type>{});
    }
    template <class A>
    static constexpr bool is_result = std::same_as<typename A::format, DenseMatrix<>>;
    /// All values must have one type, float or double.
    template <class C, class A, class B>
    static constexpr bool computes =
        std::same_as<typename A::value_type, typename B::value_type> &&
        std::same_as<typename A::value_type, typename C::value_type> &&
        (std::same_as<typename A::value_type, float> || std::same_as<typename A::value_type, double>);
  };
  using Pattern = NmPattern<Operands>;
  static constexpr std::string_view name = "N:M product by units";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), B in NM<N, M, L> or B(j, k) in NM<N, M, L, 1> or TwoFour, A dense, C "
      "dense and row-major, all float or all double in host memory";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_term = 0.05e-9;

  template <class S>
  static constexpr bool matches = Pattern::template matches<S>;

  template <class S>
  class Plan;
};

template <class S>
class NmByUnits::Plan {
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using T = typename DenseAccess::value_type;
  using Memory = typename S::result_type::tensor_type::memory_space;
  using Traits = NmTraits<typename std::remove_cvref_t<
      decltype(Pattern::sparse(std::declval<const S&>()).tensor())>::format_type>;
  static constexpr bool is_by_columns = DenseAccess::level_names[0] != S::result_type::names[0];

 public:
  Plan(const S& statement, const Resources<typename S::space_type>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  void run() {
    if (result().nnz() == 0) return;
    const detail::DenseTarget<S> target(statement_);
    NmView<T> b = this->b();
    Array<std::uint8_t, Memory> indices;  // one byte each, if the format packs them
    if constexpr (Traits::bits != 8) {
      indices = make_array<std::uint8_t, Memory>("sporos::indices", indices_of_all());
      unpack(indices.data());
      b.indices = indices.data();
    }
    const auto panels = make_array<T, Memory>("sporos::panels", panels_of_all() * panel_size());
    const auto compute = [&]<int R>(std::integral_constant<int, R>) {
      pack<R>(panels.data());
      multiply<R>(b, panels.data(), target.data());
    };
    if (rows_of_panel() == 1)
      compute(std::integral_constant<int, 1>{});
    else if (rows_of_panel() == detail::rows_of_panel)
      compute(std::integral_constant<int, detail::rows_of_panel>{});
    else
      compute(std::integral_constant<int, detail::rows_of_wide_panel>{});
    target.finish();
  }

  Bytes bytes() const {
    const auto& c = result();
    // Sums of a panel, for each task that runs at the same time.
    const std::int64_t threads = statement_.resources().space().concurrency();
    return {c.nnz(), c.bytes(),
            detail::DenseTarget<S>::bytes(statement_) + array_bytes<T>(panels_of_all() * panel_size()) +
                (Traits::bits != 8 ? array_bytes<std::uint8_t>(indices_of_all()) : 0) +
                array_bytes<T>(threads * rows_of_panel() * columns_of_task())};
  }
  void explain(std::ostream& out) const {
    out << "  result: located, units of columns by panels of " << rows_of_panel()
        << (rows_of_panel() == 1 ? " row" : " rows") << ", summed in registers\n"
        << "  operands: the dense one is copied to panels first\n";
  }

 private:
  const auto& a() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  std::int64_t m() const { return result().extent(0); }
  std::int64_t n() const { return result().extent(1); }
  NmView<T> b() const { return nm_view(Pattern::sparse(statement_).tensor()); }

  static std::int64_t parts(std::int64_t count, std::int64_t of) { return (count + of - 1) / of; }
  int rows_of_panel() const {
    if (m() == 1) return 1;
    return b().unit < 4 && m() > detail::rows_of_panel ? detail::rows_of_wide_panel : detail::rows_of_panel;
  }
  std::int64_t panels_of_all() const { return parts(m(), rows_of_panel()); }
  std::int64_t panel_size() const {
    const NmView<T> sparse = b();
    return parts(sparse.rows, sparse.window) * sparse.window * rows_of_panel();
  }
  /// The units that a task computes, in a range of panels: at least a cache line of columns.
  std::int64_t units_of_task() const { return parts(64, b().unit); }
  std::int64_t columns_of_task() const { return units_of_task() * b().unit; }

  std::int64_t indices_of_all() const {
    return Pattern::sparse(statement_).tensor().nnz() / std::max<std::int64_t>(Traits::unit, 1);
  }
  void unpack(std::uint8_t* indices) const {
    const auto level = Pattern::sparse(statement_).tensor().template level<2>().view();
    const std::int64_t chunks = parts(indices_of_all(), 1 << 14);
    detail::for_each_part(statement_.resources().space(), indices_of_all(), chunks,
                          [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                            for (std::int64_t q = begin; q < end; ++q)
                              indices[q] = static_cast<std::uint8_t>(level.coord_at(q));
                          });
  }

  template <int R>
  void pack(T* panels) const {
    const std::int64_t k = b().rows, size = panel_size();
    const T* const from = a().values().data();
    detail::for_each_chunk(statement_.resources().space(), panels_of_all(), [&](std::int64_t panel) {
      detail::pack_panel<R>(from, m(), k, is_by_columns ? std::int64_t{1} : k,
                            is_by_columns ? m() : std::int64_t{1}, panel * R, size / R,
                            panels + panel * size);
    });
  }

  template <int R>
  void multiply(const NmView<T>& b, const T* panels, T* c) const {
    const auto epilogue = epilogue_of(statement_);
    const bool accumulates = statement_.accumulates();
    const std::int64_t units = parts(n(), b.unit), of_task = units_of_task(), size = panel_size();
    const std::int64_t columns = parts(units, of_task), width = columns_of_task();
    // Enough ranges of panels that each thread has several tasks.
    const std::int64_t threads = statement_.resources().space().concurrency();
    const std::int64_t ranges = std::clamp<std::int64_t>(parts(8 * threads, columns), 1, panels_of_all());
    const std::int64_t of_range = parts(panels_of_all(), ranges);
    detail::for_each_chunk(statement_.resources().space(), columns * ranges, [&](std::int64_t task) {
      const std::int64_t first_unit = task % columns * of_task;
      const std::int64_t last_unit = std::min(units, first_unit + of_task);
      const std::int64_t begin = task / columns * of_range;
      const std::int64_t end = std::min(panels_of_all(), begin + of_range);
      const std::int64_t first = first_unit * b.unit, last = std::min(n(), last_unit * b.unit);
      const detail::ScratchArray<T> sums(R * width);
      for (std::int64_t panel = begin; panel < end; ++panel) {
        const int rows = static_cast<int>(std::min<std::int64_t>(R, m() - panel * R));
        detail::multiply_units<R>(b, first_unit, last_unit, panels + panel * size, rows, sums.data(), width);
        for (int r = 0; r < rows; ++r) {
          const std::int64_t row = panel * R + r;
          const T* const from = sums.data() + r * width;
          T* const to = c + row * n();
          if (accumulates)
            for (std::int64_t j = first; j < last; ++j) to[j] = to[j] + epilogue(from[j - first], row, j);
          else
            for (std::int64_t j = first; j < last; ++j) to[j] = epilogue(from[j - first], row, j);
        }
      }
    });
  }

  const S& statement_;
};

}  // namespace sporos
