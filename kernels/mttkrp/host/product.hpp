// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// Matricised tensor times Khatri-Rao product over compressed fibers, on the host.
///
/// If the result's mode is outermost, M(i, r) = sum over k of B(k, r) * (sum over l of C(l, r) * T(i, k, l)):
/// common factors of a fiber are taken out level by level, and every sum over a fiber stays in registers
/// until it is complete. If the result's mode is at another level, the rows of the levels above are
/// multiplied once per node, and the levels below are summed as before (Smith, Ravindran, Sidiropoulos,
/// Karypis, *SPLATT: Efficient and Parallel Sparse Tensor-Matrix Multiplication*, IPDPS 2015; Smith, Karypis,
/// *Tensor-Matrix Products with a Compressed Sparse Tensor*, IA3 2015, for the inner modes).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../../core/compiled_once.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/tensor.hpp"
#include "../../../formats/chunks.hpp"
#include "../../../formats/named.hpp"
#include "../../host/sparse_rows.hpp"
#include "../../nest/partition.hpp"
#include "columns.hpp"
#include "form.hpp"

namespace sporos::detail {

/// The operands of the product. Rows of the factors and of the result are `columns` adjacent numbers, one row
/// after another.
template <class View, class T>
struct MttkrpOperands {
  static constexpr int levels = View::format_type::levels;
  View tensor;
  std::int64_t columns = 0;
  std::array<const T*, static_cast<std::size_t>(levels)>
      factors{};  ///< by level; none for the result's level
};

/// Traverses the fibers for W columns, from `first` on.
///
/// @tparam D  the level of the result's mode
/// @tparam Ahead  how many nonzeros ahead the rows of the innermost level are prefetched; 0 for none
template <class View, class T, int D, int W, int Ahead>
class MttkrpWalk {
  using Operands = MttkrpOperands<View, T>;
  static constexpr int last = Operands::levels - 1;

 public:
  using Block = Columns<T, W>;

  /// @param nonzeros  of the whole tensor
  MttkrpWalk(const Operands& operands, std::int64_t first, std::int64_t nonzeros)
      : of_(operands), first_(first), nonzeros_(nonzeros) {}

  /// The sum, over the nodes [begin, end) of level K below the result's, of each node's row times what is
  /// below it.
  template <int K>
  SPOROS_HOST_INLINE void sum(Block& into, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t q = begin; q < end; ++q) {
      const T* const row = row_of<K>(q);
      if constexpr (K == last) {
        prefetch(of_.factors[std::size_t{last}], q);
        into.add_product(row, static_cast<T>(of_.tensor.values[q]));
      } else {
        Block below = Block::zero();
        const Bounds bounds = children<K>(q);
        sum<K + 1>(below, bounds.begin, bounds.end);
        into.add_product(below, row);
      }
    }
  }

  /// Adds to the rows of `result` what the nodes [begin, end) of level K contribute; K is the result's level
  /// or above it. `above` is the product of the rows of the nodes above.
  template <int K>
  SPOROS_HOST_INLINE void scatter(const Block& above, std::int64_t begin, std::int64_t end, T* result) const {
    for (std::int64_t q = begin; q < end; ++q) {
      if constexpr (K < D) {
        Block here = Block::zero();
        here.add_product(above, row_of<K>(q));
        const Bounds bounds = children<K>(q);
        scatter<K + 1>(here, bounds.begin, bounds.end, result);
      } else {
        T* const row = result + coordinate<K>(q) * of_.columns + first_;
        if constexpr (K == last) {
          prefetch(result, q);
          above.add_times_to(row, static_cast<T>(of_.tensor.values[q]));
        } else {
          Block below = Block::zero();
          const Bounds bounds = children<K>(q);
          sum<K + 1>(below, bounds.begin, bounds.end);
          above.add_times_to(row, below);
        }
      }
    }
  }

  template <int K>
  SPOROS_HOST_INLINE const T* row_of(std::int64_t q) const {
    return of_.factors[static_cast<std::size_t>(K)] + coordinate<K>(q) * of_.columns + first_;
  }
  /// The first of the columns in the row of a root node, or in its row of a private result.
  SPOROS_HOST_INLINE T* row_in(T* rows, std::int64_t root) const {
    return rows + coordinate<0>(root) * of_.columns + first_;
  }
  SPOROS_HOST_INLINE T* column_in(T* row) const { return row + first_; }

  template <int K>
  SPOROS_HOST_INLINE std::int64_t coordinate(std::int64_t q) const {
    if constexpr (View::format_type::template level<K>::properties.full)
      return q;
    else
      return of_.tensor.template level<K>().coord_at(q);
  }
  template <int K>
  SPOROS_HOST_INLINE Bounds children(std::int64_t q) const {
    return of_.tensor.template level<K + 1>().pos_bounds(q);
  }

 private:
  /// Fetches the columns of the row of the nonzero `Ahead` behind q.
  SPOROS_HOST_INLINE void prefetch([[maybe_unused]] const T* rows, [[maybe_unused]] std::int64_t q) const {
    if constexpr (Ahead > 0) {
      const std::int64_t later = q + Ahead < nonzeros_ ? q + Ahead : q;
      const T* const soon = rows + coordinate<last>(later) * of_.columns + first_;
      unrolled<W / columns_of_line<T>>(
          [&] SPOROS_INLINE_LAMBDA(auto line) { SPOROS_PREFETCH(soon + line * columns_of_line<T>); });
    }
  }

  Operands of_;
  std::int64_t first_, nonzeros_;
};

/// One run of M(i, r) = the sum over the nonzeros of T(…, i, …) * the product of the rows of the other modes.
///
/// The nodes of level 1 are divided into parts with about equal numbers of nonzeros, which threads share. If
/// the result's mode is outermost, the parts are the same for any number of threads, and so is the result,
/// bit by bit: the row of a root node that is divided between parts is summed from them in order. Otherwise
/// each part but the first adds to a private result.
///
/// @tparam D  the level of the result's mode
template <int D, class TensorType, class T>
class Mttkrp {
  using View = typename TensorType::view_type;
  using F = typename View::format_type;
  using Operands = MttkrpOperands<View, T>;
  static constexpr int last = F::levels - 1;
  static_assert(F::levels >= 3 && D <= last, "the result's mode is one of three levels or more");

 public:
  /// @param threads  the threads that share the work
  /// @param tensor  the tensor that the operands' view belongs to
  /// @param result  [rows, operands.columns], row-major
  Mttkrp(const HostThreads& threads, const TensorType& tensor, const Operands& operands, T* result,
         std::int64_t rows)
      : threads_(threads), tensor_(tensor), operands_(operands), result_(result), rows_(rows) {
    roots_ = tensor.template level<0>().size(1);
    nodes_ = tensor.template level<1>().size(roots_);
  }

  /// The form for these operands.
  MttkrpForm form() const {
    return mttkrp_form_for(F::level_extents(tensor_.extents())[std::size_t{last}],
                           operands_.columns * static_cast<std::int64_t>(sizeof(T)));
  }
  /// @param accumulates  whether to add to the result's old values
  void operator()(MttkrpForm form, bool accumulates) const;

  /// The bytes that a run allocates: sums of divided rows, or private results.
  std::int64_t workspace_bytes() const {
    const std::int64_t count = part_count();
    const std::int64_t values =
        D == 0 ? 2 * count * operands_.columns : rows_ * operands_.columns * (count - 1);
    return values * static_cast<std::int64_t>(sizeof(T)) +
           (count + 1) * static_cast<std::int64_t>(2 * sizeof(Edge) + sizeof(std::int64_t));
  }

 private:
  /// The row of a root node of which a part has only some children; -1 if there is none.
  struct Edge {
    std::int64_t row = -1;
  };

  std::int64_t part_count() const {
    const std::int64_t nonzeros = tensor_.nnz();
    if constexpr (D == 0) {
      return std::clamp<std::int64_t>(nonzeros / 16384, 1, 256);
    } else {
      // A private result costs about as much as processing as many nonzeros as it has rows.
      const std::int64_t worth = nonzeros / (2 * std::max<std::int64_t>(rows_, 1));
      return std::clamp<std::int64_t>(worth, 1, threads_.concurrency());
    }
  }

  void clear(T* values, std::int64_t count) const {
    const std::int64_t stretches = chunks_for(threads_, count, 4);
    for_each_chunk(threads_, stretches, [&](std::int64_t stretch) {
      const auto [begin, end] = chunk_bounds(count, stretch, stretches);
      std::fill_n(values + begin, end - begin, T{});
    });
  }
  static void add(T* to, const T* from, std::int64_t count) {
    for (std::int64_t at = 0; at < count; ++at) to[at] += from[at];
  }

  /// Calls body(root, begin, end) for each root node with children in [begin, end), with the range of these
  /// children.
  template <class Body>
  void for_each_root(std::int64_t begin, std::int64_t end, const Body& body) const {
    if (begin >= end) return;
    const auto* const positions = operands_.tensor.template level<1>().positions;
    const auto* const behind = std::upper_bound(
        positions, positions + roots_, begin,
        [](std::int64_t node, auto position) { return node < static_cast<std::int64_t>(position); });
    for (std::int64_t root = behind - positions - 1; root < roots_; ++root) {
      const auto first = static_cast<std::int64_t>(positions[root]);
      if (first >= end) return;
      const std::int64_t from = std::max(first, begin);
      const std::int64_t to = std::min(static_cast<std::int64_t>(positions[root + 1]), end);
      if (from < to) body(root, from, to);
    }
  }

  /// Calls body(walk) for all columns, in groups as wide as the registers allow.
  template <class Body>
  void for_columns(MttkrpForm form, const Body& body) const {
    if (form.ahead > 0)
      for_columns<most_columns<T>, 8>(0, body);
    else
      for_columns<most_columns<T>, 0>(0, body);
  }
  template <int W, int Ahead, class Body>
  void for_columns(std::int64_t first, const Body& body) const {
    constexpr int ahead = W >= columns_of_line<T> ? Ahead : 0;
    for (; first + W <= operands_.columns; first += W)
      body(MttkrpWalk<View, T, D, W, ahead>(operands_, first, tensor_.nnz()));
    if constexpr (W > 1) for_columns<W / 2, ahead>(first, body);
  }

  void rows_of_part(MttkrpForm form, std::int64_t begin, std::int64_t end, Edge* edges, T* sums) const {
    const auto* const positions = operands_.tensor.template level<1>().positions;
    std::fill_n(sums, 2 * operands_.columns, T{});
    for_columns(form, [&](const auto& walk) {
      sum_rows(walk, begin, end, [&](std::int64_t root, std::int64_t from, std::int64_t to) {
        if (from == static_cast<std::int64_t>(positions[root]) &&
            to == static_cast<std::int64_t>(positions[root + 1]))
          return walk.row_in(result_, root);
        const int edge = from == begin ? 0 : 1;
        edges[edge].row = walk.template coordinate<0>(root);
        return walk.column_in(sums + edge * operands_.columns);
      });
    });
  }
  /// A separate function for each width, so that all registers are available to its sums.
  template <class Descent, class RowOf>
  SPOROS_HOST_KERNEL void sum_rows(const Descent& given, std::int64_t begin, std::int64_t end,
                                   const RowOf& row_of) const {
    const Descent descent = given;
    for_each_root(begin, end, [&](std::int64_t root, std::int64_t from, std::int64_t to) {
      auto row = Descent::Block::zero();
      descent.template sum<1>(row, from, to);
      row.add_to(row_of(root, from, to));
    });
  }

  void scatter_part(MttkrpForm form, std::int64_t begin, std::int64_t end, T* result) const {
    for_columns(form, [&](const auto& walk) { scatter_rows(walk, begin, end, result); });
  }
  template <class Descent>
  SPOROS_HOST_KERNEL void scatter_rows(const Descent& given, std::int64_t begin, std::int64_t end,
                                       T* result) const {
    const Descent descent = given;
    for_each_root(begin, end, [&](std::int64_t root, std::int64_t from, std::int64_t to) {
      descent.template scatter<1>(Descent::Block::of(descent.template row_of<0>(root)), from, to, result);
    });
  }

  HostThreads threads_;
  const TensorType& tensor_;
  Operands operands_;
  T* result_;
  std::int64_t rows_, roots_ = 0, nodes_ = 0;
};

template <int D, class TensorType, class T>
[[gnu::noinline]] void Mttkrp<D, TensorType, T>::operator()(MttkrpForm form, bool accumulates) const {
  const std::int64_t count = part_count();
  const auto cuts =
      cut(nodes_, count, [&](std::int64_t node) { return positions_before<last, 1>(tensor_, node); });
  const std::int64_t parts = count;
  if constexpr (D == 0) {
    std::vector<Edge> edges(2 * static_cast<std::size_t>(parts));
    const ScratchArray<T> sums(2 * count * operands_.columns);
    if (!accumulates) clear(result_, rows_ * operands_.columns);
    for_each_chunk(threads_, parts, [&](std::int64_t part) {
      const auto at = static_cast<std::size_t>(part);
      rows_of_part(form, cuts[at], cuts[at + 1], &edges[2 * at], sums.data() + 2 * part * operands_.columns);
    });
    for (std::size_t edge = 0; edge < edges.size(); ++edge)
      if (edges[edge].row >= 0)
        add(result_ + edges[edge].row * operands_.columns,
            sums.data() + static_cast<std::int64_t>(edge) * operands_.columns, operands_.columns);
  } else {
    const std::int64_t size = rows_ * operands_.columns;
    const HostArray<T> others = pool().array<T>("sporos::private results", size * (count - 1));
    if (!accumulates) clear(result_, size);
    for_each_chunk(threads_, parts, [&](std::int64_t part) {
      const auto at = static_cast<std::size_t>(part);
      T* const mine = part == 0 ? result_ : others.data() + (part - 1) * size;
      if (part > 0) std::fill_n(mine, size, T{});
      scatter_part(form, cuts[at], cuts[at + 1], mine);
    });
    const std::int64_t stretches = chunks_for(threads_, size, 4);
    if (parts > 1)
      for_each_chunk(threads_, stretches, [&](std::int64_t stretch) {
        const auto [begin, end] = chunk_bounds(size, stretch, stretches);
        for (std::int64_t part = 1; part < parts; ++part)
          add(result_ + begin, others.data() + (part - 1) * size + begin, end - begin);
      });
  }
}

#define SPOROS_MTTKRP(EXTERN, Value)                                   \
  EXTERN template class Mttkrp<0, Tensor<Value, CSF<3>, Host>, Value>; \
  EXTERN template class Mttkrp<1, Tensor<Value, CSF<3>, Host>, Value>; \
  EXTERN template class Mttkrp<2, Tensor<Value, CSF<3>, Host>, Value>;
SPOROS_DECLARE_COMPILED(SPOROS_MTTKRP)

}  // namespace sporos::detail
