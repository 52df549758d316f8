// SPDX-License-Identifier: Apache-2.0
/// @file passage_of.hpp
/// The templates that implement passage.hpp: one passage, and the choice of a format by name.
#pragma once

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/entries_of.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/formats/validate.hpp>

#include "assembled.hpp"
#include "command.hpp"
#include "passage.hpp"

namespace sporos::tool {

template <TensorFormat F, TensorValue Value>
Tensor<Value, F> assembled(const Entries<Value, F::order>& entries, Duplicates duplicates) {
  return assemble<F>(entries, duplicates);
}

/// Stores entries in format F and reads them back.
template <class F, class Value>
Passage pass(const Entries<Value, F::order>& entries, const PassageOptions& options) {
  Passage out;
  out.levels = F::str();
  Kokkos::Timer timer;
  const auto tensor = assembled<F>(entries, options.duplicates);
  out.assemble_seconds = timer.seconds();
  out.stored = tensor.nnz();
  out.bytes = tensor.bytes();
  if (options.validate) {
    timer.reset();
    validate(tensor);
    out.validate_seconds = timer.seconds();
  }
  if (options.take_out) {
    timer.reset();
    out.entries = sporos::entries(tensor, options.keep_zeros ? Zeros::keep : default_zeros<F>);
    out.extract_seconds = timer.seconds();
  }
  return out;
}

/// Whether 32 bits can hold every coordinate.
template <std::size_t Order>
bool are_narrow(const std::array<std::int64_t, Order>& extents) {
  return std::all_of(extents.begin(), extents.end(),
                     [](std::int64_t extent) { return extent <= std::numeric_limits<std::int32_t>::max(); });
}

/// Calls `then` with the index type that the coordinates need.
template <std::size_t Order, class Then>
Passage with_coordinate(const std::array<std::int64_t, Order>& extents, const Then& then) {
  return are_narrow(extents) ? then(std::int32_t{}) : then(std::int64_t{});
}

[[noreturn]] inline void refuse_order(FormatName format, int order) {
  throw UsageError(text("the format ", to_string(format), " cannot hold tensors of order ", order,
                        ": give coo, csf or dense"));
}

template <class C, class Value>
Passage pass_matrix_with(FormatName format, const Entries<Value, 2>& entries, const PassageOptions& options) {
  using P = std::int64_t;
  switch (format) {
    case FormatName::coo:
      return pass<COO<2, RowMajor, P, C>>(entries, options);
    case FormatName::csr:
      return pass<CSR<P, C>>(entries, options);
    case FormatName::csc:
      return pass<CSC<P, C>>(entries, options);
    case FormatName::dcsr:
    case FormatName::csf:
      return pass<DCSR<P, C>>(entries, options);
    case FormatName::dcsc:
      return pass<DCSC<P, C>>(entries, options);
    case FormatName::dense:
      return pass<DenseMatrix<>>(entries, options);
    default:
      break;
  }
  if constexpr (sizeof(C) == sizeof(std::int32_t)) {
    if (format == FormatName::bcsr2x2) return pass<BCSR<2, 2>>(entries, options);
    if (format == FormatName::bcsr3x3) return pass<BCSR<3, 3>>(entries, options);
    return pass<BCSR<4, 4>>(entries, options);
  } else {
    throw UsageError(text("the format ", to_string(format), " takes up to ",
                          std::numeric_limits<std::int32_t>::max(),
                          " rows and columns: give coo, dcsr or dcsc"));
  }
}

template <class Value>
Passage pass_matrix(FormatName format, const Entries<Value, 2>& entries, const PassageOptions& options) {
  return with_coordinate(entries.extents,
                         [&]<class C>(C) { return pass_matrix_with<C>(format, entries, options); });
}

template <int Order>
Passage pass_tensor(FormatName format, const Entries<double, Order>& entries, const PassageOptions& options) {
  using Natural = detail::natural_order<Order>;
  return with_coordinate(entries.extents, [&]<class C>(C) {
    switch (format) {
      case FormatName::coo:
        return pass<COO<Order, Natural, std::int64_t, C>>(entries, options);
      case FormatName::csf:
        return pass<CSF<Order, Natural, std::int64_t, C>>(entries, options);
      case FormatName::dense:
        return pass<DenseTensor<Order>>(entries, options);
      default:
        refuse_order(format, Order);
    }
  });
}

}  // namespace sporos::tool
