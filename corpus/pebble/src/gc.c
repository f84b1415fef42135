/* Mark and sweep. Runs between two lines of the prompt, never inside eval, so that no value on the
   C stack can be missed. */
#include <stdlib.h>

#include "pebble.h"

static Value *all_values;

Value *allocate(Kind kind)
{
    Value *value = calloc(1, sizeof *value);
    if (value == NULL)
        fail("out of memory");
    value->kind = kind;
    value->next = all_values;
    all_values = value;
    return value;
}

static void mark(Value *value)
{
    while (!value->marked) {
        value->marked = true;
        switch (value->kind) {
        case PAIR:
            mark(value->as.pair.head);
            value = value->as.pair.tail;
            break;
        case CLOSURE:
            mark(value->as.closure.parameters);
            mark(value->as.closure.body);
            value = value->as.closure.scope;
            break;
        default:
            return;
        }
    }
}

/* Returns how many values were freed. */
size_t collect_garbage(Value *root)
{
    mark(root);
    size_t freed = 0;
    for (Value **link = &all_values; *link != NULL;) {
        Value *value = *link;
        if (value->marked) {
            value->marked = false;
            link = &value->next;
            continue;
        }
        *link = value->next;
        if (value->kind == SYMBOL || value->kind == STRING)
            free(value->as.text);
        free(value);
        ++freed;
    }
    return freed;
}
