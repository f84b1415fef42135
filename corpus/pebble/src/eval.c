#include <string.h>

#include "pebble.h"

static Value *scope_of_all = &nil;

static bool is_symbol(const Value *value, const char *text)
{
    return value->kind == SYMBOL && strcmp(value->as.text, text) == 0;
}

/* A scope is a list of pairs (symbol . value); inner bindings come first. */
static Value *lookup(const Value *symbol, Value *scope)
{
    for (; scope->kind == PAIR; scope = scope->as.pair.tail) {
        Value *binding = scope->as.pair.head;
        if (strcmp(binding->as.pair.head->as.text, symbol->as.text) == 0)
            return binding->as.pair.tail;
    }
    fail("unknown symbol: %s", symbol->as.text);
}

static Value *bind(Value *symbol, Value *value, Value *scope)
{
    return cons(cons(symbol, value), scope);
}

static Value *eval_each(Value *list, Value *scope)
{
    if (list->kind != PAIR)
        return &nil;
    Value *head = eval(list->as.pair.head, scope);
    return cons(head, eval_each(list->as.pair.tail, scope));
}

static Value *make_closure(Value *rest, Value *scope)
{
    Value *closure = allocate(CLOSURE);
    closure->as.closure.parameters = rest->as.pair.head;
    closure->as.closure.body = rest->as.pair.tail->as.pair.head;
    closure->as.closure.scope = scope;
    return closure;
}

/* Tail calls do not grow the C stack: the loop goes on with the body of what is called. */
Value *eval(Value *expression, Value *scope)
{
    for (;;) {
        if (expression->kind == SYMBOL)
            return lookup(expression, scope);
        if (expression->kind != PAIR)
            return expression;

        Value *head = expression->as.pair.head;
        Value *rest = expression->as.pair.tail;
        if (is_symbol(head, "quote"))
            return rest->as.pair.head;
        if (is_symbol(head, "lambda"))
            return make_closure(rest, scope);
        if (is_symbol(head, "if")) {
            Value *test = eval(rest->as.pair.head, scope);
            rest = rest->as.pair.tail;
            expression = test->kind == NIL ? rest->as.pair.tail->as.pair.head : rest->as.pair.head;
            continue;
        }

        Value *callee = eval(head, scope);
        Value *arguments = eval_each(rest, scope);
        if (callee->kind == BUILTIN)
            return callee->as.builtin(arguments);
        if (callee->kind != CLOSURE)
            fail("this is not a function");
        scope = callee->as.closure.scope;
        Value *parameters = callee->as.closure.parameters;
        for (; parameters->kind == PAIR; parameters = parameters->as.pair.tail) {
            scope = bind(parameters->as.pair.head, arguments->as.pair.head, scope);
            arguments = arguments->as.pair.tail;
        }
        expression = callee->as.closure.body;
    }
}

static Value *builtin_add(Value *arguments)
{
    int64_t sum = 0;
    for (; arguments->kind == PAIR; arguments = arguments->as.pair.tail)
        sum += arguments->as.pair.head->as.number;
    return make_number(sum);
}

static Value *builtin_multiply(Value *arguments)
{
    int64_t product = 1;
    for (; arguments->kind == PAIR; arguments = arguments->as.pair.tail)
        product *= arguments->as.pair.head->as.number;
    return make_number(product);
}

static void define_builtin(const char *name, Builtin function)
{
    Value *value = allocate(BUILTIN);
    value->as.builtin = function;
    scope_of_all = bind(make_symbol(name, strlen(name)), value, scope_of_all);
}

Value *global_scope(void)
{
    if (scope_of_all == &nil) {
        define_builtin("+", builtin_add);
        define_builtin("*", builtin_multiply);
    }
    return scope_of_all;
}
