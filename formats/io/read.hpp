// SPDX-License-Identifier: Apache-2.0
/// @file read.hpp
/// Tensors straight from files and into them: read<CSR<>>("matrix.mtx"), write("tensor.tns.gz", t).
#pragma once

#include <string>

#include "../assemble.hpp"
#include "../entries_of.hpp"
#include "file.hpp"

namespace sporos {

/// The tensor that a file holds, in format F: Matrix Market, FROSTT .tns or DLMC .smtx, plain or gzip, as its
/// content tells. Symmetric files are expanded, duplicate coordinates added.
///
///     auto B = read<CSR<>>("west0497.mtx");
///     auto T = read<CSF<3>, float>("nips.tns.gz");
///
/// @tparam F      format of the tensor; its order is the file's
/// @tparam Value  type of its values: double unless given
/// @throws ParseError naming file, line and reason; IoError; ShapeError for another order; RangeError where
///         the format's coordinates cannot hold the extents
template <TensorFormat F, TensorValue Value = double, ExecutionSpace Space = Host>
Tensor<Value, F, Space> read(const std::string& path, const ReadOptions& options = {}) {
  auto tensor =
      assemble<F, HostSpaceOf<Space>>(read_entries<Value, F::order>(path, options), Duplicates::sum);
  return tensor.template move_to<Space>();
}

/// Writes a tensor of any format as what the name says: .mtx, .tns or .smtx, each with .gz behind it or not.
/// The file appears under its name when it is complete, or not at all.
/// @throws FormatError for another name or a tensor that such a file cannot hold; IoError
template <AnyTensor T>
void write(const std::string& path, const T& tensor) {
  write_entries(path, entries(tensor));
}

}  // namespace sporos
