// SPDX-License-Identifier: Apache-2.0
/// @file assemble.hpp
/// Assembling distributed tensors from entries on any rank, and moving them: assemble, gather, scatter,
/// redistribute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "../core/error.hpp"
#include "../core/value.hpp"
#include "../formats/assemble.hpp"
#include "../formats/entries_of.hpp"
#include "../formats/format_name.hpp"
#include "../formats/validate.hpp"
#include "agree.hpp"
#include "distribution.hpp"
#include "exchange.hpp"
#include "tensor.hpp"

namespace sporos {

namespace detail {

/// From the entries of all ranks, those that this rank stores, with local coordinates.
/// @param what, how  what the ranks are doing, which must be the same on all of them
/// @param root       the rank that has all the entries, if only one may have any
template <class Value, int Order>
Entries<Value, Order> entries_to_owners(const Distribution<Order>& distribution,
                                        const Entries<Value, Order>& entries, std::string_view what,
                                        std::uint64_t how, std::optional<int> root = {}) {
  const Communicator& ranks = distribution.ranks();
  const bool everywhere = distribution.is_replicated();
  jointly(ranks, [&] {
    expect_inside(entries, distribution.extents());
    agree(ranks,
          Signature(what)
              .mix(distribution.signature().hash())
              .mix(value_name<Value>())
              .mix(static_cast<std::uint64_t>(how)),
          what);
  });
  auto out = jointly(ranks, [&] {
    if (everywhere) return gathered(ranks, entries, what);
    const std::vector<int> owners = distribution.owners(entries, what);
    const auto routes = Routes::of(ranks.size(), entries.size(), [&](std::int64_t e, const auto& send_to) {
      send_to(owners[static_cast<std::size_t>(e)]);
    });
    if (root) return scattered(ranks, entries, routes, *root, what);
    return exchange(ranks, entries, routes, what).items;
  });
  out.extents = distribution.local_extents();
  for (std::size_t mode = 0; mode < static_cast<std::size_t>(Order); ++mode) {
    const Partition& partition = distribution.partition(static_cast<int>(mode));
    if (partition.is_whole()) continue;
    std::int64_t* const coordinates = out.coordinates[mode].data();
    for (std::int64_t e = 0; e < out.size(); ++e) coordinates[e] = partition.local(coordinates[e]);
  }
  return out;
}

/// Throws FormatError if a coordinate occurs twice among the entries that a rank stores.
template <class Value, int Order>
void expect_no_duplicates(const Entries<Value, Order>& mine, const Distribution<Order>& distribution) {
  std::vector<Extents<Order>> coordinates(static_cast<std::size_t>(mine.size()));
  for (std::int64_t e = 0; e < mine.size(); ++e)
    coordinates[static_cast<std::size_t>(e)] = mine.coordinate(e);
  std::sort(coordinates.begin(), coordinates.end());
  const auto twice = std::adjacent_find(coordinates.begin(), coordinates.end());
  if (twice != coordinates.end())
    throw FormatError(
        text("coordinate ", coordinate_text(distribution.global(distribution.ranks().rank(), *twice)),
             " stands more than once in the entries of all ranks, and duplicates are refused: choose "
             "Duplicates::sum, last or max where they are meant"));
}

}  // namespace detail

/// The distributed tensor whose value at each coordinate is the sum of all ranks' entries there. Every rank
/// contributes any entries, possibly none, in any order; each goes to the rank that stores it. Collective.
///
///     const auto D = Distribution<2>::blocks(ranks, {n, n});
///     const auto A = assemble<CSR<>>(D, my_entries);
///
/// @tparam F          format of what each rank stores
/// @param entries     entries with global coordinates
/// @param duplicates  what to do with entries at the same coordinate; entries are in the order of their ranks
/// @throws what `assemble` of entries throws, on all ranks if one throws
/// Cost: one exchange for each mode and one for the values, then the local assembly.
template <TensorFormat F, ExecutionSpace Space = Host, TensorValue Value>
Distributed<Tensor<Value, F, Space>> assemble(const Distribution<F::order>& distribution,
                                              const Entries<Value, F::order>& entries,
                                              Duplicates duplicates = default_duplicates<F>) {
  return jointly(distribution.ranks(), [&] {
    const auto how = Signature(format_name<F>()).mix(static_cast<std::uint64_t>(duplicates)).hash();
    const auto mine = detail::entries_to_owners(distribution, entries, "assemble", how);
    if (duplicates == Duplicates::error) detail::expect_no_duplicates(mine, distribution);
    return Distributed<Tensor<Value, F, Space>>(distribution, assemble<F, Space>(mine, duplicates));
  });
}

/// What this rank stores of a distributed tensor, as entries with global coordinates. Not collective.
template <AnyDistributed T>
Entries<typename T::value_type, T::order> entries(const T& tensor,
                                                  Zeros zeros = default_zeros<typename T::format_type>) {
  auto out = entries(tensor.local(), zeros);
  out.extents = tensor.extents();
  const int rank = tensor.ranks().rank();
  for (std::size_t mode = 0; mode < out.extents.size(); ++mode) {
    const Partition& partition = tensor.distribution().partition(static_cast<int>(mode));
    if (partition.is_whole()) continue;
    const int part = tensor.distribution().part(static_cast<int>(mode), rank);
    std::int64_t* const coordinates = out.coordinates[mode].data();
    for (std::int64_t e = 0; e < out.size(); ++e) coordinates[e] = partition.global(part, coordinates[e]);
  }
  return out;
}

namespace detail {

/// Checks that all ranks name the same existing rank.
/// @throws on all ranks, RangeError if there is no such rank, CommError if ranks name different ones
inline void agree_on_root(const Communicator& ranks, int root, std::string_view what) {
  jointly(ranks, [&] {
    if (root < 0 || root >= ranks.size())
      throw RangeError(text(what, ": there is no rank ", root, " of ", ranks.size()));
    agree(ranks, Signature(what).mix(static_cast<std::uint64_t>(root)), text(what, " on rank ", root));
  });
}

/// The entries that this rank contributes to the whole tensor, chosen so that each comes from only one rank.
template <class T>
auto own_entries(const T& tensor) {
  if (tensor.distribution().is_replicated() && tensor.ranks().rank() != 0)
    return Entries<typename T::value_type, T::order>(tensor.extents(), 0);
  return entries(tensor);
}

}  // namespace detail

/// The number of values that all ranks store, each counted once. Collective.
template <AnyDistributed T>
std::int64_t total_nnz(const T& tensor) {
  if (tensor.distribution().is_replicated()) return tensor.nnz();
  agree(tensor.ranks(), "total_nnz");
  return tensor.ranks().sum(tensor.nnz());
}

/// The same tensor with another distribution and, if one is named, in another format: `redistribute(A, D)`,
/// `redistribute<CSC<>>(A, D)`. Collective.
/// @throws ShapeError if the distribution has other extents, and what `assemble` throws
/// Cost: every entry travels with its coordinates.
template <TensorFormat F, AnyDistributed T>
auto redistribute(const T& tensor, const Distribution<T::order>& distribution) {
  return jointly(tensor.ranks(), [&] {
    return assemble<F, typename T::space_type>(distribution, detail::own_entries(tensor));
  });
}
template <AnyDistributed T>
auto redistribute(const T& tensor, const Distribution<T::order>& distribution) {
  return redistribute<typename T::format_type>(tensor, distribution);
}

/// The whole tensor, on every rank. Collective.
template <AnyDistributed T>
typename T::local_type gather(const T& tensor) {
  return jointly(tensor.ranks(), [&] {
    return redistribute(tensor, Distribution<T::order>::replicated(tensor.ranks(), tensor.extents())).local();
  });
}
/// The whole tensor, on rank `root`; nothing on the others. Collective.
/// @throws RangeError if there is no such rank, CommError if ranks name different ones
template <AnyDistributed T>
std::optional<typename T::local_type> gather(const T& tensor, int root) {
  using Local = typename T::local_type;
  const Communicator& ranks = tensor.ranks();
  return jointly(ranks, [&] {
    detail::agree_on_root(ranks, root, "gather");
    const auto all = detail::gathered(ranks, detail::own_entries(tensor), "gather", root);
    std::optional<Local> out;
    if (ranks.rank() == root) out = assemble<typename T::format_type, typename T::space_type>(all);
    agree(ranks, "gather");
    return out;
  });
}

/// The tensor of rank `root`, distributed; the arguments of the other ranks are ignored. Collective.
/// @throws RangeError if there is no such rank, CommError if ranks name different ones
template <AnyTensor T>
Distributed<T> scatter(const Distribution<T::order>& distribution, const T& tensor, int root = 0) {
  return jointly(distribution.ranks(), [&] {
    detail::agree_on_root(distribution.ranks(), root, "scatter");
    using F = typename T::format_type;
    using Given = Entries<typename T::value_type, T::order>;
    const Given given =
        distribution.ranks().rank() == root ? entries(tensor) : Given(distribution.extents(), 0);
    const auto mine =
        detail::entries_to_owners(distribution, given, "scatter", Signature(format_name<F>()).hash(), root);
    return Distributed<T>(distribution, assemble<F, typename T::space_type>(mine));
  });
}

/// Checks that what every rank stores obeys the rules of its format, and that nonzeros that are dealt out one
/// by one are where they belong. Collective.
/// @throws FormatError, on all ranks, if one rank's arrays break them, or a nonzero belongs to another rank
template <AnyDistributed T>
void validate(const T& tensor) {
  jointly(tensor.ranks(), [&] {
    validate(tensor.local());
    agree(tensor.ranks(), tensor.distribution().signature(), "validate");
    if (!tensor.distribution().is_fine_grained()) return;
    const auto mine = entries(tensor);
    const auto owners = tensor.distribution().owners(mine, "validate");
    for (std::size_t e = 0; e < owners.size(); ++e)
      if (owners[e] != tensor.ranks().rank())
        throw FormatError(text("rank ", tensor.ranks().rank(), " stores a nonzero at ",
                               coordinate_text(mine.coordinate(static_cast<std::int64_t>(e))),
                               ", which belongs to rank ", owners[e], ": assemble the tensor"));
    agree(tensor.ranks(), "validate");
  });
}

}  // namespace sporos
