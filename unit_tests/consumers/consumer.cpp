// SPDX-License-Identifier: Apache-2.0
/// @file consumer.cpp
/// What a user's first program does: it includes everything, assembles two matrices, multiplies them and
/// looks.
#include <cstdio>
#include <sporos/sporos.hpp>
#include <string_view>

#ifdef EXPECTED_VERSION
static_assert(std::string_view(SPOROS_VERSION_STRING) == EXPECTED_VERSION);
#endif

int main(int argc, char** argv) {
  using namespace sporos;
  const ScopeGuard guard(argc, argv);
  try {
    const auto B = assemble<CSR<>>(Entries<double, 2>({2, 3}, {{{0, 0}, 2.0}, {{0, 2}, 3.0}, {{1, 1}, 5.0}}));
    const auto C =
        assemble<CSR<>>(Entries<double, 2>({3, 2}, {{{0, 1}, 7.0}, {{2, 1}, 11.0}, {{1, 0}, 13.0}}));
    Tensor<double, CSR<>> A({2, 2});
    const Index<'i'> i;
    const Index<'j'> j;
    const Index<'k'> k;
    A(i, j) = B(i, k) * C(k, j);
    const auto values = A.values();
    if (A.nnz() == 2 && values(0) == 2.0 * 7.0 + 3.0 * 11.0 && values(1) == 5.0 * 13.0) return 0;
    std::fprintf(stderr, "the product is wrong\n");
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
