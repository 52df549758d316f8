// SPDX-License-Identifier: Apache-2.0
/// @file tensor_map.hpp
/// Descriptions of matrices in the GPU's memory for its copy engine.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>
#include <type_traits>

#include "../../core/error.hpp"
#include "launch.hpp"

namespace sporos::gpu {

namespace detail {

/// The driver's function that describes a matrix to the copy engine.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    expect_success(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
        "the driver's function that describes matrices to the copy engine");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  }();
  if (encode == nullptr)
    throw StateError("CUDA: this driver does not describe matrices to the copy engine: it needs CUDA 12");
  return encode;
}

/// Calls the driver's encoder. In a thread that has not used the GPU yet, the driver, unlike the runtime,
/// does not know which GPU is meant.
template <class... Arguments>
bool encode_tensor_map(const Arguments&... arguments) {
  const auto encode = [&] { return tensor_map_encoder()(arguments...); };
  CUresult result = encode();
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    expect_success(cudaSetDevice(Kokkos::Cuda().cuda_device()), "the GPU of a thread");
    result = encode();
  }
  return result == CUDA_SUCCESS;
}

/// Describes matrices of one shape that lie one after another. A box lies in one matrix.
/// @param type, bytes  type and size of an element
/// @param order        how a box is laid out in shared memory
inline CUtensorMap describe_matrices(CUtensorMapDataType type, int bytes, const void* at,
                                     std::int64_t matrices, std::int64_t rows, std::int64_t columns,
                                     std::int64_t stride, int box_rows, int box_columns,
                                     CUtensorMapSwizzle order) {
  CUtensorMap map{};
  const auto bytes_of_row = static_cast<cuuint64_t>(stride) * static_cast<cuuint64_t>(bytes);
  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows),
                                 static_cast<cuuint64_t>(matrices)};
  const cuuint64_t strides[2] = {bytes_of_row, bytes_of_row * static_cast<cuuint64_t>(rows)};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows), 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  if (!encode_tensor_map(&map, type, 3, const_cast<void*>(at), extents, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, order, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    throw StateError(text("CUDA: the copy engine does not take ", matrices, " matrices of ", rows, " x ",
                          columns, " with rows ", stride, " elements apart"));
  return map;
}

/// @param type, bytes  type and size of an element
/// @param order        how a box is laid out in shared memory
inline CUtensorMap describe_matrix(CUtensorMapDataType type, int bytes, const void* at, std::int64_t rows,
                                   std::int64_t columns, std::int64_t stride, int box_rows, int box_columns,
                                   CUtensorMapSwizzle order) {
  CUtensorMap map{};
  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(stride) * static_cast<cuuint64_t>(bytes)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  if (!encode_tensor_map(&map, type, 2, const_cast<void*>(at), extents, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, order, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    throw StateError(text("CUDA: the copy engine does not take a matrix of ", rows, " x ", columns,
                          " with rows ", stride, " elements apart"));
  return map;
}

}  // namespace detail

/// Describes a row-major matrix of 16-bit elements to the copy engine, which copies boxes of box_rows x
/// box_columns elements: 64 columns in the order of Swizzle128, or 32 or 16 in that of SwizzledRows.
/// @param at      aligned to 16 bytes
/// @param stride  elements from one row to the next, a multiple of 8
inline CUtensorMap tensor_map(const void* at, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                              int box_rows, int box_columns = 64) {
  return detail::describe_matrix(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, at, rows, columns, stride, box_rows,
                                 box_columns,
                                 box_columns == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                 : box_columns == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                     : CU_TENSOR_MAP_SWIZZLE_32B);
}

/// Describes an array of 16-bit elements in the boxes of an operand (operand_layout.hpp): `rows` x `columns`
/// elements, whose rows begin `stride` elements apart.
/// @param readers  blocks that copy a box together, the same number of lines each
template <class Layout>
CUtensorMap operand_map(const void* at, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                        int readers = 1) {
  return tensor_map(at, rows, columns, stride, Layout::box_lines / readers, Layout::box_columns);
}

/// Describes several such matrices that lie one after another.
template <class Layout>
CUtensorMap operand_map_of_matrices(const void* at, std::int64_t matrices, std::int64_t rows,
                                    std::int64_t columns, std::int64_t stride) {
  return detail::describe_matrices(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, at, matrices, rows, columns, stride,
                                   Layout::box_lines, Layout::box_columns, CU_TENSOR_MAP_SWIZZLE_128B);
}

/// Describes several matrices that lie one after another, in boxes of 64 columns.
inline CUtensorMap tensor_map_of_matrices(const void* at, std::int64_t matrices, std::int64_t rows,
                                          std::int64_t columns, std::int64_t stride, int box_rows) {
  return detail::describe_matrices(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, at, matrices, rows, columns, stride,
                                   box_rows, 64, CU_TENSOR_MAP_SWIZZLE_128B);
}

/// Describes matrices of floats or doubles, whose boxes are copied row by row without swizzling.
/// @param at      aligned to 16 bytes
/// @param stride  elements from one row to the next; in bytes, a multiple of 16
template <class T>
CUtensorMap plain_tensor_map_of_matrices(const T* at, std::int64_t matrices, std::int64_t rows,
                                         std::int64_t columns, std::int64_t stride, int box_rows,
                                         int box_columns) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return detail::describe_matrices(
      sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
      static_cast<int>(sizeof(T)), at, matrices, rows, columns, stride, box_rows, box_columns,
      CU_TENSOR_MAP_SWIZZLE_NONE);
}

/// Describes one matrix of floats or doubles in boxes of 128 bytes per row, in the order of Swizzle128.
template <class T>
CUtensorMap swizzled_tensor_map(const T* at, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                                int box_rows) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return detail::describe_matrix(
      sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
      static_cast<int>(sizeof(T)), at, rows, columns, stride, box_rows, 128 / static_cast<int>(sizeof(T)),
      CU_TENSOR_MAP_SWIZZLE_128B);
}

}  // namespace sporos::gpu
