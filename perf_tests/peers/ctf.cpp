// SPDX-License-Identifier: Apache-2.0
/// @file ctf.cpp
/// Cyclops Tensor Framework (https://github.com/cyclops-community/ctf): its MTTKRP of sparse tensors.
#include <ctf.hpp>

#include "cp_peer.hpp"

namespace sporos::perf {
namespace {

class Ctf final : public CpPeer {
 public:
  explicit Ctf(const CpInput& input) : world_(MPI_COMM_WORLD), T_(3, true, input.extents.data(), world_) {
    const auto count = static_cast<std::int64_t>(input.values.size());
    const std::int64_t begin = count * world_.rank / world_.np, end = count * (world_.rank + 1) / world_.np;
    std::vector<std::int64_t> places;
    for (std::int64_t e = begin; e < end; ++e) {
      const auto at = static_cast<std::size_t>(e);
      places.push_back(input.coordinates[0][at] +
                       input.extents[0] *
                           (input.coordinates[1][at] + input.extents[1] * input.coordinates[2][at]));
    }
    T_.write(end - begin, places.data(), input.values.data() + begin);
    for (int mode = 0; mode < 3; ++mode) {
      factors_.emplace_back(std::make_unique<CTF::Matrix<double>>(
          std::int64_t{input.rank}, input.extents[static_cast<std::size_t>(mode)], world_));
      factors_.back()->fill_random(mode + 1.0, mode + 1.0);
      results_.emplace_back(std::make_unique<CTF::Matrix<double>>(*factors_.back()));
    }
  }

  void multiply() override {
    for (int mode = 0; mode < 3; ++mode) {
      CTF::Tensor<double>* operands[3];
      for (std::size_t m = 0; m < 3; ++m)
        operands[m] = static_cast<int>(m) == mode ? results_[m].get() : factors_[m].get();
      CTF::MTTKRP(&T_, operands, mode, true);  // columns first: it has no other for sparse tensors
    }
  }
  std::array<double, 3> sums() override {
    std::array<double, 3> out{};
    for (std::size_t m = 0; m < 3; ++m) out[m] = results_[m]->norm1();  // all values are positive
    return out;
  }
  bool decompose(int) override { return false; }

 private:
  CTF::World world_;
  CTF::Tensor<double> T_;
  std::vector<std::unique_ptr<CTF::Matrix<double>>> factors_, results_;
};

}  // namespace

std::unique_ptr<CpPeer> make_ctf(const CpInput& input) { return std::make_unique<Ctf>(input); }

}  // namespace sporos::perf
