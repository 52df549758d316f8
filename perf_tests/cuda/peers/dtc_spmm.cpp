// SPDX-License-Identifier: Apache-2.0
/// @file dtc_spmm.cpp
/// SpMM by DTC-SpMM (https://github.com/HPMLL/DTC-SpMM_ASPLOS24) in tf32: windows of 16 rows, whose columns
/// are gathered into tiles of 16 x 8, for m16n8k4.
#include "spmm_peer.hpp"
// The kernels. What is around them there is for PyTorch, whose types unused_torch/ declares.
#include "DTCSpMM_kernel.cu"

namespace sporos::perf {

namespace {

using namespace peers;

constexpr int window_rows = BLK_H, tile_columns = BLK_W;

struct Tiles {
  std::vector<int> first_of_window{0}, window_of_tile, nonzeros_before{0}, columns_of_b;
  std::vector<unsigned char> place_in_tile;
  std::vector<float> values;

  explicit Tiles(const HostCsr<float>& a) {
    const int rows = static_cast<int>(a.positions.size()) - 1;
    for (int first = 0; first < rows; first += window_rows) {
      RowWindow<float> window(a, first, window_rows);
      const int tiles = (static_cast<int>(window.columns.size()) + tile_columns - 1) / tile_columns;
      std::stable_sort(window.nonzeros.begin(), window.nonzeros.end(), [](const auto& x, const auto& y) {
        return x.column / tile_columns < y.column / tile_columns;
      });
      std::vector<int> counts(static_cast<std::size_t>(tiles));
      for (const auto& nonzero : window.nonzeros) {
        ++counts[static_cast<std::size_t>(nonzero.column / tile_columns)];
        place_in_tile.push_back(
            static_cast<unsigned char>(nonzero.row * tile_columns + nonzero.column % tile_columns));
        values.push_back(nonzero.value);
      }
      for (const int count : counts) {
        nonzeros_before.push_back(nonzeros_before.back() + count);
        window_of_tile.push_back(first / window_rows);
      }
      window.columns.resize(static_cast<std::size_t>(tiles) * tile_columns, 0);
      columns_of_b.insert(columns_of_b.end(), window.columns.begin(), window.columns.end());
      first_of_window.push_back(first_of_window.back() + tiles);
    }
  }
};

class DtcSpmm final : public SpmmPeer {
 public:
  DtcSpmm(const PeerProduct<float>& in, const Tiles& tiles, bool is_balanced)
      : in_(in),
        is_balanced_(is_balanced),
        windows_(static_cast<int>(tiles.first_of_window.size()) - 1),
        tiles_(static_cast<int>(tiles.window_of_tile.size())),
        first_of_window_(tiles.first_of_window),
        window_of_tile_(tiles.window_of_tile),
        nonzeros_before_(tiles.nonzeros_before),
        columns_of_b_(tiles.columns_of_b),
        place_in_tile_(tiles.place_in_tile),
        values_(tiles.values),
        c_(static_cast<std::size_t>(windows_) * window_rows * in.columns) {
    c_.set_zero(nullptr);  // windows without nonzeros are not written
  }
  void run(cudaStream_t stream) const override {
    const int n = in_.columns;
    const auto start = [&](auto kernel, dim3 grid, dim3 block, const DeviceArray<int>& of_windows,
                           auto... count) {
      kernel<<<grid, block, 0, stream>>>(of_windows.get(), place_in_tile_.get(), nonzeros_before_.get(),
                                         columns_of_b_.get(), values_.get(), count..., in_.inner,
                                         in_.nonzeros, n, const_cast<float*>(in_.b), c_.get());
    };
    const dim3 of_sixteens(WARP_SIZE, n / 16), of_four(WARP_SIZE, 4);
    if (is_balanced_) {
      c_.set_zero(stream);
      const int groups = (tiles_ + TCBLOCK_PER_WARP - 1) / TCBLOCK_PER_WARP;
      if (n >= 128)
        start(
            &spmm_forward_cuda_kernel_improved_ptx_1684_uint8_v1_with_value_double_buffer_float4_split_balance,
            dim3(groups, n / 128), of_four, window_of_tile_, tiles_);
      else
        start(&spmm_forward_cuda_kernel_improved_ptx_uint8_v1_strict_balance_withv, dim3(groups), of_sixteens,
              window_of_tile_, tiles_);
    } else if (n >= 128) {
      start(&spmm_forward_cuda_kernel_improved_ptx_1684_uint8_v1_with_value_double_buffer_float4_split,
            dim3(windows_, n / 128), of_four, first_of_window_);
    } else if (n >= 64) {
      start(&spmm_forward_cuda_kernel_improved_ptx_1684_uint8_v1_with_value_double_buffer_float2_split,
            dim3(windows_, n / 64), of_four, first_of_window_);
    } else {
      start(&spmm_forward_cuda_kernel_improved_ptx_1684_uint8_v1_with_value_double_buffer, dim3(windows_),
            of_sixteens, first_of_window_);
    }
    check(cudaGetLastError());
  }
  std::vector<double> result() const override {
    return result_of(c_, static_cast<std::size_t>(in_.rows) * in_.columns);
  }
  std::size_t held_bytes() const override {
    return first_of_window_.bytes() + window_of_tile_.bytes() + nonzeros_before_.bytes() +
           columns_of_b_.bytes() + place_in_tile_.bytes() + values_.bytes();
  }

 private:
  PeerProduct<float> in_;
  bool is_balanced_;
  int windows_, tiles_;
  DeviceArray<int> first_of_window_, window_of_tile_, nonzeros_before_, columns_of_b_;
  DeviceArray<unsigned char> place_in_tile_;
  DeviceArray<float> values_;
  DeviceArray<float> c_;
};

}  // namespace

std::unique_ptr<SpmmPeer> dtc_spmm(const PeerProduct<float>& in, bool is_balanced) {
  if (in.columns % 32 != 0 || in.columns > 512)
    throw std::runtime_error("DTC-SpMM is asked for multiples of 32 columns");
  const auto tiles_of = [](const HostCsr<float>& a) { return Tiles(a); };
  return std::make_unique<DtcSpmm>(in, prepared_once(in, tiles_of), is_balanced);
}

}  // namespace sporos::perf
