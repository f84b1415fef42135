#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pebble.h"

Value nil = {.kind = NIL, .marked = true};

Value *make_number(int64_t number)
{
    Value *value = allocate(NUMBER);
    value->as.number = number;
    return value;
}

/* REQUIRES: text is UTF-8; bytes are copied, nothing is interned. */
Value *make_symbol(const char *text, size_t length)
{
    Value *value = allocate(SYMBOL);
    value->as.text = malloc(length + 1);
    if (value->as.text == NULL)
        fail("out of memory");
    memcpy(value->as.text, text, length);
    value->as.text[length] = '\0';
    return value;
}

Value *cons(Value *head, Value *tail)
{
    Value *value = allocate(PAIR);
    value->as.pair.head = head;
    value->as.pair.tail = tail;
    return value;
}

static void print_list(const Value *list)
{
    putchar('(');
    for (const char *gap = ""; list->kind == PAIR; list = list->as.pair.tail, gap = " ") {
        fputs(gap, stdout);
        print_value(list->as.pair.head);
    }
    putchar(')');
}

void print_value(const Value *value)
{
    switch (value->kind) {
    case NUMBER:
        printf("%" PRId64, value->as.number);
        break;
    case SYMBOL:
    case STRING:
        fputs(value->as.text, stdout);
        break;
    case NIL:
    case PAIR:
        print_list(value);
        break;
    case BUILTIN:
    case CLOSURE:
        fputs("#<function>", stdout);
        break;
    }
}
