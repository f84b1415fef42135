/**
 * Creates the headers of one page of a list. They contain the total number of items and the addresses of other pages.
 */

import { originOf } from "./addresses.ts";
import type { Call } from "./route.ts";

/** The headers as the OpenAPI document describes them. */
export const PAGE_HEADERS = {
  "X-Total-Count": "The total number on all pages.",
  Link: "The first, previous, next and last page (RFC 8288).",
};

export function pageHeaders(
  call: Call,
  { page, perPage, total }: { page: number; perPage: number; total: number },
): Record<string, string> {
  const link = pageLinks(call, page, Math.max(1, Math.ceil(total / perPage)));
  return { "X-Total-Count": String(total), ...(link !== "" && { Link: link }) };
}

function pageLinks(call: Call, page: number, last: number): string {
  const { pathname, searchParams } = new URL(call.request.url);
  const link = (to: number, rel: string) => {
    searchParams.set("page", String(to));
    return `<${originOf(call)}${pathname}?${searchParams.toString()}>; rel="${rel}"`;
  };
  const back = page > 1 ? [link(1, "first"), link(Math.min(page - 1, last), "prev")] : [];
  const forth = page < last ? [link(page + 1, "next"), link(last, "last")] : [];
  return [...back, ...forth].join(", ");
}
