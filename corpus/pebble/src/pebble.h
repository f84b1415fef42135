/* The values of the language and the few functions between the files. */
#ifndef PEBBLE_H
#define PEBBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { NIL, NUMBER, SYMBOL, STRING, PAIR, BUILTIN, CLOSURE } Kind;

typedef struct Value Value;
typedef Value *(*Builtin)(Value *arguments);

struct Value {
    Kind kind;
    bool marked;
    Value *next; /* all values, for the sweep */
    union {
        int64_t number;
        char *text;
        struct { Value *head, *tail; } pair;
        Builtin builtin;
        struct { Value *parameters, *body, *scope; } closure;
    } as;
};

extern Value nil;

/* value.c */
Value *make_number(int64_t number);
Value *make_symbol(const char *text, size_t length);
Value *cons(Value *head, Value *tail);
void print_value(const Value *value);

/* reader.c: NULL at the end of the text; *text moves behind what was read. */
Value *read_datum(const char **text);

/* eval.c */
Value *eval(Value *expression, Value *scope);
Value *global_scope(void);

/* gc.c */
Value *allocate(Kind kind);
size_t collect_garbage(Value *root);

_Noreturn void fail(const char *format, ...);

#endif
