// Third-party code, kept as delivered. Do not edit; report upstream.
#include "pcg/pcg32.hpp"

#include <bit>

namespace pcg {

Pcg32::Pcg32(std::uint64_t seed, std::uint64_t stream) : state_(0), increment_(stream << 1 | 1) {
  next();
  state_ += seed;
  next();
}

std::uint32_t Pcg32::next() {
  const std::uint64_t old = state_;
  state_ = old * 6364136223846793005ULL + increment_;
  const auto shifted = static_cast<std::uint32_t>(((old >> 18U) ^ old) >> 27U);
  return std::rotr(shifted, static_cast<int>(old >> 59U));
}

std::uint32_t Pcg32::below(std::uint32_t bound) {
  const std::uint32_t threshold = -bound % bound;
  for (;;) {
    if (const std::uint32_t value = next(); value >= threshold) return value % bound;
  }
}

std::uint32_t checksum(Pcg32 generator, int outputs) {
  std::uint32_t sum = 0;
  for (int i = 0; i < outputs; ++i) sum = std::rotl(sum, 5) ^ generator.next();
  return sum;
}

}  // namespace pcg
