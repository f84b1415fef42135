#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "pebble.h"

static jmp_buf prompt;

_Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    longjmp(prompt, 1);
}

int main(void)
{
    static char line[4096];
    setjmp(prompt);
    while (fputs("> ", stdout), fgets(line, sizeof line, stdin) != NULL) {
        const char *text = line;
        for (Value *datum; (datum = read_datum(&text)) != NULL;) {
            print_value(eval(datum, global_scope()));
            putchar('\n');
        }
        collect_garbage(global_scope());
    }
    return 0;
}
