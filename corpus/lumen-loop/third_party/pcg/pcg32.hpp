// Third-party code, kept as delivered. Do not edit; report upstream.
#pragma once

#include <cstdint>

namespace pcg {

class Pcg32 {
 public:
  explicit Pcg32(std::uint64_t seed, std::uint64_t stream = 1);
  std::uint32_t next();
  /// Uniform in [0, bound), without the bias of a plain remainder.
  std::uint32_t below(std::uint32_t bound);

 private:
  std::uint64_t state_;
  std::uint64_t increment_;
};

/// Checksum of the generator's first outputs, to compare platforms.
std::uint32_t checksum(Pcg32 generator, int outputs);

}  // namespace pcg
