// SPDX-License-Identifier: Apache-2.0
/// @file sputnik.cpp
/// SpMM by Sputnik (https://github.com/google-research/sputnik): rows in the order of their lengths, which is
/// found once. In half it reads columns of 16 bits, and two nonzeros at a time: rows of an odd number are
/// padded by a zero.
#include <numeric>

#include "spmm_peer.hpp"
#include "sputnik/spmm/cuda_spmm.h"

namespace sporos::perf {

namespace {

using namespace peers;

template <class Value>
std::vector<int> rows_by_length(const HostCsr<Value>& a) {
  std::vector<int> out(a.positions.size() - 1);
  std::iota(out.begin(), out.end(), 0);
  const auto length = [&](int row) { return a.positions[row + 1] - a.positions[row]; };
  std::stable_sort(out.begin(), out.end(), [&](int x, int y) { return length(x) > length(y); });
  return out;
}

class InFloat final : public SpmmPeer {
 public:
  explicit InFloat(const PeerProduct<float>& in)
      : in_(in),
        order_(rows_by_length(HostCsr<float>(in))),
        c_(static_cast<std::size_t>(in.rows) * in.columns) {}
  void run(cudaStream_t stream) const override {
    check(sputnik::CudaSpmm(in_.rows, in_.inner, in_.columns, in_.nonzeros, order_.get(), in_.values,
                            in_.positions, in_.coordinates, in_.b, c_.get(), stream));
  }
  std::vector<double> result() const override { return result_of(c_, c_.bytes() / sizeof(float)); }
  std::size_t held_bytes() const override { return order_.bytes(); }

 private:
  PeerProduct<float> in_;
  DeviceArray<int> order_;
  DeviceArray<float> c_;
};

/// A with rows of an even number of nonzeros.
struct PaddedRows {
  std::vector<int> positions{0};
  std::vector<short> coordinates;
  std::vector<__half> values;

  explicit PaddedRows(const HostCsr<__half>& a) {
    for (std::size_t row = 0; row + 1 < a.positions.size(); ++row) {
      for (int q = a.positions[row]; q < a.positions[row + 1]; ++q) {
        coordinates.push_back(static_cast<short>(a.coordinates[q]));
        values.push_back(a.values[q]);
      }
      if (coordinates.size() % 2 != 0) {
        coordinates.push_back(coordinates.back());
        values.push_back(__half(0.0F));
      }
      positions.push_back(static_cast<int>(coordinates.size()));
    }
  }
};

class InHalf final : public SpmmPeer {
 public:
  InHalf(const PeerProduct<__half>& in, const HostCsr<__half>& a, const PaddedRows& padded)
      : in_(in),
        order_(rows_by_length(a)),
        positions_(padded.positions),
        coordinates_(padded.coordinates),
        values_(padded.values),
        c_(static_cast<std::size_t>(in.rows) * in.columns) {}
  void run(cudaStream_t stream) const override {
    check(sputnik::CudaSpmm(in_.rows, in_.inner, in_.columns, static_cast<int>(values_.bytes() / 2),
                            order_.get(), reinterpret_cast<const __half2*>(values_.get()), positions_.get(),
                            reinterpret_cast<const short2*>(coordinates_.get()),
                            reinterpret_cast<const __half2*>(in_.b), reinterpret_cast<__half2*>(c_.get()),
                            stream));
  }
  std::vector<double> result() const override { return result_of(c_, c_.bytes() / sizeof(__half)); }
  std::size_t held_bytes() const override {
    return order_.bytes() + positions_.bytes() + coordinates_.bytes() + values_.bytes();
  }

 private:
  PeerProduct<__half> in_;
  DeviceArray<int> order_, positions_;
  DeviceArray<short> coordinates_;
  DeviceArray<__half> values_;
  DeviceArray<__half> c_;
};

}  // namespace

std::unique_ptr<SpmmPeer> sputnik_spmm(const PeerProduct<float>& in) { return std::make_unique<InFloat>(in); }

std::unique_ptr<SpmmPeer> sputnik_spmm(const PeerProduct<__half>& in) {
  if (in.inner > 32768) throw std::runtime_error("Sputnik has columns of 16 bits in half");
  const HostCsr<__half> a(in);
  return std::make_unique<InHalf>(in, a, PaddedRows(a));
}

}  // namespace sporos::perf
