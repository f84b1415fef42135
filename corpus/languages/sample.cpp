// naïve
#include <vector>
#define DECLARE(x) int x
namespace geometry::plane {
inline namespace v1 {
template <typename T> concept Numeric = requires(T a) { a + a; };

template <Numeric T = double, std::size_t N = 2>
class Point : public Base<T>, private Other {
public:
  using value_type = T;
  explicit constexpr Point(T x, T y = {}) noexcept : x_{x}, y_(y) {}
  Point(const Point&) = delete;
  virtual ~Point() = default;
  auto operator<=>(const Point& other) const = default;
  Point& operator+=(const Point& o) { return *this; }
  explicit operator bool() const { return true; }
  [[nodiscard]] T norm() const& { auto local = x_; return local; }
  virtual void draw(int a) const = 0;
  static inline int count = 0;
  friend void swap(Point& a, Point& b) {}
  struct Inner { int depth; };
  enum class Mode : unsigned char { Fast, Slow };
private:
  T x_, y_;
  T* data_[4];
};

struct Plain { int a; double b = 1.0; void method(); };
union Value { int i; float f; };
enum class Level : int { Low, High = 5 };
enum Old { OldA };
}  // namespace v1

int global = 1;
constexpr auto kLimit = 10'000;
template <class T> T* find(std::vector<T>& items, auto predicate) requires Numeric<T> { return nullptr; }
template <> int* find<int>(std::vector<int>& items, bool p) { return nullptr; }
}  // namespace geometry::plane

void geometry::plane::Plain::method() {
  auto lambda = [this, &x = a]<typename U>(U&& u) mutable -> int { return 1; };
  if (auto [first, second] = pair(); first) {}
  for (auto&& [k, v] : map) {}
  if constexpr (true) {}
}
template <typename T> void Outer<T>::Nested::run() const {}
Outer::Outer() : value(1) {}
Outer::~Outer() {}
bool operator==(const Plain& a, const Plain& b) { return true; }
std::ostream& operator<<(std::ostream& os, const Plain& p) { return os; }
int operator""_km(unsigned long long v) { return 1; }
using Alias = std::vector<int>;
template <class T> using Vec = std::vector<T>;
typedef struct { int legacy; } Legacy;
extern "C" { void c_linkage(int x) {} int c_variable; }
namespace { int hidden; void in_anonymous() {} }
namespace fs = std::filesystem;
auto trailing(int x) -> decltype(x) { co_return x; }
consteval int square(int n) { return n * n; }
class Forward;
void prototype(int);
int main() { return 0; }
struct [[nodiscard]] alignas(8) Aligned {
  [[no_unique_address]] Tag tag;
  void visit(this Aligned& self, Options options = {}, std::vector<int> rest = {}) {}
  template <class Self> auto&& value(this Self&& self) { return self; }
  void gone() = delete("no longer");
};
Pair(int) -> Pair<int>;
int last_one [[maybe_unused]];
