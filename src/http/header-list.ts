/** Writes a list of names as the value of a response header. */

const MOST_HEADER_BYTES = 4096;

/**
 * Joins names with commas, as many as fit. Percent-encodes the characters that a header or a list of names cannot
 * contain.
 */
export function headerList(names: Iterable<string>): string {
  let list = "";
  for (const name of new Set([...names].map(encodeName))) {
    const longer = list === "" ? name : `${list}, ${name}`;
    if (longer.length > MOST_HEADER_BYTES) break;
    list = longer;
  }
  return list;
}

function encodeName(name: string): string {
  return name.replace(/[^!#-$&-+\--~ ]+/g, (part) =>
    encodeURIComponent(part.replace(/\p{Cs}/gu, "\ufffd")),
  );
}
