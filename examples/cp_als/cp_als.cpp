// SPDX-License-Identifier: Apache-2.0
/// @file cp_als.cpp
/// The fluorescence of five samples, decomposed into the amino acids of which they are mixtures.
///
///     cp_als [tensor file] [rank]
///
/// R. Bro, "PARAFAC: tutorial and applications", Chemometrics and Intelligent Laboratory Systems 38 (1997):
/// each sample contains three amino acids in different amounts.
#include "cp_als.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <exception>

int main(int argc, char** argv) {
  const sporos::ScopeGuard guard(argc, argv);
  try {
    const std::string path = argc > 1 ? argv[1] : SPOROS_EXAMPLE_DATA "/aminoacid.tns.gz";
    cp::Options options;
    options.rank = argc > 2 ? std::atoi(argv[2]) : 3;
    options.tolerance = 1e-6;
    options.iterations = 200;

    const auto X = sporos::read<sporos::CSF<3>>(path);
    fmt::print("{}\n", sporos::summary(X));
    const cp::Model model = cp::als(X, options, [](int iteration, double fit) {
      if (iteration % 10 == 1) fmt::print("  iteration {:>3}   fit {:.6f}\n", iteration, fit);
    });
    fmt::print("  {} after {} iterations, fit {:.6f}\n\n", model.converged ? "converged" : "stopped",
               model.fits.size(), model.fits.back());

    const cp::Matrix& A = model.factors[0];
    for (std::int64_t sample = 0; sample < std::min<std::int64_t>(A.extent(0), 8); ++sample) {
      fmt::print("  sample {}", sample);
      for (std::int64_t r = 0; r < A.extent(1); ++r) fmt::print("{:>10.4f}", sporos::at(A, {sample, r}));
      fmt::print("\n");
    }
    return model.fits.back() > 0.9 || argc > 1 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "cp_als: {}\n", error.what());
    return 2;
  }
}
