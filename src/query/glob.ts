/**
 * Globs as regular expressions over paths, for people who know those of a shell or of .gitignore.
 * A glob without a slash is of the last part of a path, one with a slash of the whole path; a slash at
 * the end means everything below.
 *
 *   `*` any text without a slash; `**` before a slash any folders, or none; `?` one character
 *   `[a-z]` `[!a-z]` one of these, or none of these; `{a,b}` one of these texts
 */

/** In RE2's dialect, for `file:`. Total: what is not closed stands for itself. */
export function globPattern(glob: string): string {
  const whole = glob.endsWith("/") ? `${glob}**` : glob;
  const isPath = whole.includes("/");
  const isBelow = whole.endsWith("/**");
  const path = whole.replace(/^\//, "").replace(/\/\*\*$/, "");
  if (/^\*\.[\w.]+$/.test(path)) return `${translate(path.slice(1))}$`; // \.ts$: as a person writes it
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

/** Whether a value of `file:` was probably meant as a glob: a star that repeats nothing an expression would repeat. */
export const looksLikeGlob = (value: string): boolean =>
  !/[\\^$|()+]|\.\*/.test(value) && /(?:^|[\w/*-])\*|\{[\w.]+,/.test(value);
