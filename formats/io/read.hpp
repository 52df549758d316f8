// SPDX-License-Identifier: Apache-2.0
/// @file read.hpp
/// Tensors read from files and written to them: read<CSR<>>("matrix.mtx"), write("tensor.tns.gz", t).
#pragma once

#include <string>

#include "../assemble.hpp"
#include "../entries_of.hpp"
#include "compiled.hpp"
#include "file.hpp"

namespace sporos {

/// The tensor in a file, in format F. The file may be Matrix Market, FROSTT .tns, DLMC .smtx, NumPy .npy,
/// SciPy .npz, binsparse or an edge list, which is detected from its content; texts and .npy may be plain or
/// gzip. Symmetric files are expanded, and the values of duplicate coordinates are added.
///
///     auto B = read<CSR<>>("west0497.mtx");
///     auto T = read<CSF<3>, float>("nips.tns.gz");
///
/// @tparam F      format of the tensor, of the same order as the tensor in the file
/// @tparam Value  type of its values: double unless given
/// @throws ParseError naming file, line and reason; IoError; ShapeError for another order; RangeError if the
/// format's coordinates cannot hold the extents; MemoryError
template <TensorFormat F, TensorValue Value = double, ExecutionSpace Space = Host>
Tensor<Value, F, Space> read(const std::string& path, const ReadOptions& options = {}) {
  auto tensor =
      assemble<F, HostSpaceOf<Space>>(read_entries<Value, F::order>(path, options), Duplicates::sum);
  return tensor.template move_to<Space>();
}

/// Writes a tensor of any format as the kind of file indicated by its name: .mtx, .tns, .smtx or .npy,
/// optionally with .gz, .npz, or .h5 (binsparse), which stores it as its format does if binsparse has such
/// levels. The file appears under its name when it is complete, or not at all.
/// @throws FormatError for any other name and for a tensor that such a file cannot hold; IoError if it cannot
/// be written
template <class T>
  requires(AnyTensor<T> || ReadOnlyTensor<T>)
void write(const std::string& path, const T& tensor) {
  if (io::has_hdf5_name(path))
    return write_binsparse(path, entries(tensor), {.levels = binsparse_levels<typename T::format_type>()});
  write_entries(path, entries(tensor));
}

/// Does not compile: the message says which argument comes first.
template <class T>
  requires(AnyTensor<T> || ReadOnlyTensor<T>)
void write(const T&, const std::string&) {
  static_assert(detail::never<T>, "write takes the name of the file first: write(\"A.mtx\", A)");
}

}  // namespace sporos
