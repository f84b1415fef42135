#include <stdio.h>
#define LIMIT 10
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
#ifndef GUARD
#define GUARD
#endif

typedef unsigned long ulong_t, *ulong_ptr;
typedef int (*callback_t)(void *data, int n);
typedef struct node { struct node *next; int value; } node_t;
typedef struct { int anonymous_member; } plain_t;

struct point {
	int x, y;
	const char *name;
	unsigned flags : 4;
	int (*compare)(const struct point *, const struct point *);
	int grid[3][4];
	union { int as_int; float as_float; };
	struct inner { int depth; } nested;
};
struct forward;
union value { int i; double d; };
enum color { RED, GREEN = 2, BLUE };
enum { ANON_A, ANON_B };

extern int declared_elsewhere;
int counter = 0, *pointer, array[10] = { [0] = 1 };
static const struct point origin = { .x = 0, .y = 0 }, *origin_ptr;
_Static_assert(sizeof(int) == 4, "int");
_Thread_local int per_thread;

int prototype(int a);
static inline int add(int a, int b)
{
	int local = a;
	struct local_type { int m; };
#define INSIDE_BODY 1
	return local + b;
}

char *duplicate(const char *text)
{
	return NULL;
}

int **two_levels(void) { return 0; }
void (*signal_like(int sig, void (*func)(int)))(int) { return func; }
__attribute__((noinline)) void attributed(void) {}
static void __init setup_module(void) {}
int old_style(a, b)
	int a;
	char *b;
{
	return a;
}
#ifdef CONFIG_X
int configured(void)
{
#else
int configured(int a)
{
#endif
	return 1;
}
struct table_entry table[] = {
	{ "a", 1 },
	{ "b", 2 },
};
int after_table;
#ifdef CONFIG_Y
static int chosen(void)
#else
static int chosen(int a)
#endif
{
	return 1;
}
auto inferred = 3;
unsigned _BitInt(12) narrow;
double _Complex impedance;
[[nodiscard]] int careful(void) { return 1; }
struct [[deprecated("use point")]] old_point { [[maybe_unused]] int x; };
unsigned char icon[] = {
#embed "icon.png"
};
