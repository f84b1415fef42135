/* Text to data. Recursive descent; the depth of a datum is the depth of the C stack. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pebble.h"

/* White space and comments, which run from a semicolon to the end of the line. */
static void skip_blanks(const char **text)
{
    for (;;) {
        *text += strspn(*text, " \t\r\n");
        if (**text != ';')
            return;
        *text += strcspn(*text, "\n");
    }
}

static bool is_delimiter(char c)
{
    return c == '\0' || strchr("()'\"; \t\r\n", c) != NULL;
}

static Value *read_list(const char **text)
{
    skip_blanks(text);
    if (**text == '\0')
        fail("a list is not closed");
    if (**text == ')') {
        ++*text;
        return &nil;
    }
    Value *head = read_datum(text);
    return cons(head, read_list(text));
}

static Value *read_atom(const char **text)
{
    const char *start = *text;
    while (!is_delimiter(**text))
        ++*text;
    char *end;
    long long number = strtoll(start, &end, 10);
    if (end == *text && end != start)
        return make_number(number);
    return make_symbol(start, (size_t)(*text - start));
}

Value *read_datum(const char **text)
{
    skip_blanks(text);
    switch (**text) {
    case '\0':
        return NULL;
    case '(':
        ++*text;
        return read_list(text);
    case ')':
        fail("a parenthesis too many");
    case '\'':
        ++*text;
        return cons(make_symbol("quote", 5), cons(read_datum(text), &nil));
    default:
        return read_atom(text);
    }
}
