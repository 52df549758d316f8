// SPDX-License-Identifier: Apache-2.0
/// @file row_fetch.hpp
/// Whole rows of a matrix or vector, fetched from the ranks that own them and placed around this rank's own.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/tensor.hpp"
#include "../formats/named.hpp"
#include "../formats/structure.hpp"
#include "agree.hpp"
#include "distribution.hpp"
#include "exchange.hpp"
#include "numbering.hpp"
#include "value_exchange.hpp"

namespace sporos::detail {

/// Whether the values of each coordinate of mode 0 are consecutive, followed by those of the next coordinate.
template <TensorFormat F>
inline constexpr bool stores_rows =
    is_by_rows<F> || std::is_same_v<F, DenseVector> || std::is_same_v<F, DenseMatrix<>>;

/// A level in the memory of a space, made from segments in host memory.
template <class Level, class Space>
auto level_of_segments(SegmentsOf<Level> segments, std::int64_t parents, std::int64_t extent) {
  using Memory = typename Space::memory_space;
  auto made = Level::template Storage<Kokkos::HostSpace>::template from_segments<HostSpaceOf<Space>>(
      std::move(segments), parents, extent);
  if constexpr (std::is_same_v<Memory, Kokkos::HostSpace>)
    return made;
  else
    return made.template copy_to<Memory>();
}

/// Some rows of a tensor that is divided into ranges of rows, both other ranks' and this rank's.
///
///     rows of rank 0 │ this rank's │ of rank 2, 3, …
///      x   x         │ y y y y y y │  z      z
///      └── received ─┴─── copied ──┴ received ──┘     in one array, in the order of their coordinates
///
/// Values arrive at their final place: nothing is unpacked. If only some of the rank's own rows are among
/// them, these are packed, but not sent.
template <class T>
class RowFetch {
 public:
  using Value = typename T::value_type;
  using F = typename T::format_type;
  using Space = typename T::space_type;
  using memory_space = typename T::memory_space;

  /// Whether the rows of a numbering can be fetched in this way; the same on all ranks.
  static bool takes(const Numbering& rows, const Distribution<T::order>& distribution) {
    const Partition& partition = distribution.partition(0);
    return rows.is_list() && partition.is_contiguous() && partition.parts() == distribution.ranks().size();
  }

  RowFetch() = default;

  /// Collective.
  /// @param rows    ascending
  /// @param source  this rank's own rows
  RowFetch(const Numbering& rows, const T& source, const Distribution<T::order>& distribution)
      : source_(source) {
    const Communicator& ranks = distribution.ranks();
    const Partition& partition = distribution.partition(0);
    const Bounds own = partition.range(ranks.rank());
    const auto size = static_cast<std::size_t>(ranks.size()), here = static_cast<std::size_t>(ranks.rank());
    std::vector<std::int64_t> wanted, counts(size);
    jointly(ranks, [&] {
      const auto& list = rows.coordinates();
      const auto first = std::lower_bound(list.begin(), list.end(), own.begin);
      const auto behind = std::lower_bound(first, list.end(), own.end);
      has_all_own_ = behind - first == own.size();
      wanted.reserve(list.size());
      wanted.assign(list.begin(), has_all_own_ ? first : behind);
      wanted.insert(wanted.end(), behind, list.end());
      for (const std::int64_t row : wanted) ++counts[static_cast<std::size_t>(partition.owner(row))];
      agree(ranks, "fetching rows");
    });
    auto asked = jointly(ranks, [&] { return exchange(ranks, wanted, counts, "fetching rows"); });
    for (std::int64_t& row : asked.items) row -= own.begin;
    if constexpr (is_by_rows<F>) {
      fetch_columns(ranks, rows.size(), own.size(), asked.items, asked.counts, counts);
    } else {
      jointly(ranks, [&] {
        Extents<T::order> extents = source.extents();
        extents[0] = rows.size();
        std::int64_t width = 1;
        if constexpr (T::order == 2) width = extents[1];
        if (has_all_own_) counts[here] = own.size();
        values_ = ValueExchange<Value, Space>(ranks, width, asked.items, asked.counts, counts);
        auto levels = source.levels();
        using Rows = std::tuple_element_t<0, typename T::level_storage>;
        std::get<0>(levels) = Rows::empty(1, rows.size());
        tensor_ = T(extents, std::move(levels), values_.received());
      });
    }
  }

  const T& tensor() const { return tensor_; }

  void start(const Space& space) {
    values_.start(space, source_.values());
    copy_own(space);
  }
  void finish(const Space& space) { values_.finish(space); }

  const ValueExchange<Value, Space>& values() const { return values_; }

 private:
  void copy_own(const Space& space) const {
    const Bounds& own = values_.own();
    if (has_all_own_ && own.size() > 0)
      Kokkos::deep_copy(space, part_of_array(values_.received(), own.begin, own.end), source_.values());
  }

  /// Fetches the rows of a sparse matrix by rows: first their lengths, then their columns.
  void fetch_columns(const Communicator& ranks, std::int64_t rows, std::int64_t own_rows,
                     const std::vector<std::int64_t>& asked, const std::vector<std::int64_t>& asked_counts,
                     const std::vector<std::int64_t>& counts) {
    using Level = typename F::template level<1>;
    using Position = typename Level::position_type;
    using Column = typename Level::coordinate_type;
    const auto here = static_cast<std::size_t>(ranks.rank());
    const auto source = source_.template level<1>().segments();
    const auto positions = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), source.positions);
    const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), source.coordinates);

    std::vector<std::int64_t> lengths, sent_positions;
    std::vector<Column> sent_columns;
    std::vector<std::int64_t> sends(asked_counts.size());
    jointly(ranks, [&] {
      std::size_t at = 0;
      for (std::size_t rank = 0; rank < asked_counts.size(); ++rank)
        for (std::int64_t left = asked_counts[rank]; left > 0; --left, ++at) {
          const auto row = static_cast<std::size_t>(asked[at]);
          const auto begin = static_cast<std::int64_t>(positions(row));
          const auto end = static_cast<std::int64_t>(positions(row + 1));
          lengths.push_back(end - begin);
          sends[rank] += end - begin;
          for (std::int64_t q = begin; q < end; ++q) {
            sent_positions.push_back(q);
            sent_columns.push_back(columns(static_cast<std::size_t>(q)));
          }
        }
      agree(ranks, "fetching rows");
    });
    const auto came_lengths =
        jointly(ranks, [&] { return exchange(ranks, lengths, asked_counts, "fetching rows"); });
    const auto came = jointly(ranks, [&] { return exchange(ranks, sent_columns, sends, "fetching rows"); });
    jointly(ranks, [&] {
      const std::int64_t own = has_all_own_ ? source_.nnz() : 0;
      const auto all = std::ssize(came.items) + own;
      auto made = SegmentsOf<Level>::with_room(rows, all);
      const auto& [new_positions, new_columns] = made;
      std::size_t row = 0, from = 0;
      std::int64_t to = 0;
      const auto add_row = [&](std::int64_t length) {
        to += length;
        new_positions(++row) = narrow<Position>(to, "the number of nonzeros of fetched rows");
      };
      const auto add_ghosts = [&](std::size_t begin_rank, std::size_t end_rank, std::size_t& length_at) {
        for (std::size_t rank = begin_rank; rank < end_rank; ++rank)
          for (std::int64_t left = counts[rank]; left > 0; --left) {
            const std::int64_t length = came_lengths.items[length_at++];
            for (std::int64_t q = 0; q < length; ++q)
              new_columns(static_cast<std::size_t>(to + q)) = came.items[from++];
            add_row(length);
          }
      };
      std::size_t length_at = 0;
      add_ghosts(0, here, length_at);
      if (has_all_own_) {
        std::copy_n(columns.data(), own, new_columns.data() + to);
        for (std::int64_t own_row = 0; own_row < own_rows; ++own_row)
          add_row(static_cast<std::int64_t>(positions(static_cast<std::size_t>(own_row) + 1)) -
                  static_cast<std::int64_t>(positions(static_cast<std::size_t>(own_row))));
      }
      add_ghosts(has_all_own_ ? here + 1 : here, counts.size(), length_at);
      auto receives = came.counts;
      if (has_all_own_) receives[here] = own;
      values_ = ValueExchange<Value, Space>(ranks, 1, sent_positions, sends, receives);
      using Rows = std::tuple_element_t<0, typename T::level_storage>;
      tensor_ =
          T({rows, source_.extent(1)},
            {Rows::empty(1, rows), level_of_segments<Level, Space>(std::move(made), rows, source_.extent(1))},
            values_.received());
    });
  }

  T source_, tensor_;
  bool has_all_own_ = false;  ///< whether all of this rank's own rows are among them
  ValueExchange<Value, Space> values_;
};

}  // namespace sporos::detail
