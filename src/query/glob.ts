/**
 * Translates globs, as they are used in a shell or in .gitignore, to regular expressions for paths. A glob without a
 * slash matches the last part of a path. A glob with a slash matches the whole path. A glob with a slash at its end
 * matches everything in that folder. The elements of a glob are:
 *
 *   `*`                  any text without a slash
 *   `**` before a slash  any folders, or none
 *   `?`                  one character
 *   `[a-z]` `[!a-z]`     one character that is in the class, or one that is not
 *   `{a,b}`              one of these texts
 */

/** Returns the expression for `file:`, in RE2's dialect. Never fails, because an unclosed bracket stands for itself. */
export function globPattern(glob: string): string {
  const whole = glob.endsWith("/") ? `${glob}**` : glob;
  const isPath = whole.includes("/");
  const isBelow = whole.endsWith("/**");
  const path = whole.replace(/^\//, "").replace(/\/\*\*$/, "");
  if (/^\*\.[\w.]+$/.test(path)) return `${translate(path.slice(1))}$`; // writes \.ts$ as a person would
  const pattern = translate(path) + (isBelow ? "/.*" : "");
  return isPath ? `^${pattern}$` : `(^|/)${pattern}$`;
}

const SPECIAL = /[\\^$.|?*+()[\]{}]/g;
const TOKEN = /\*\*\/|\*+|\?|\[(!?)((?:\\.|[^\]\\/])+)\]|\{([^{}]*)\}|\\(.)|[^*?[{\\]+|[^]/g;

function translate(glob: string): string {
  return glob.replace(
    TOKEN,
    (
      token,
      not: string | undefined,
      members: string | undefined,
      texts: string | undefined,
      escaped: string | undefined,
    ) => {
      if (token === "**/") return "(.*/)?";
      if (token.startsWith("*")) return "[^/]*";
      if (token === "?") return "[^/]";
      if (members !== undefined) return `[${not ? "^/" : ""}${members.replace(/[[^]/g, "\\$&")}]`;
      if (texts !== undefined) return `(${texts.split(",").map(translate).join("|")})`;
      return (escaped ?? token).replace(SPECIAL, "\\$&");
    },
  );
}

/**
 * Returns whether a value of `file:` was probably meant as a glob. Such a value has braces with a comma, or it has a
 * star at its start or after a plain character. It has no other syntax of expressions.
 */
export const looksLikeGlob = (value: string): boolean =>
  !/[\\^$|()+]|\.\*/.test(value) && /(?:^|[\w/*-])\*|\{[\w.]+,/.test(value);
