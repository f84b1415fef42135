/** Defines the limits for a message from a client. The largest messages are tool calls. */

/**
 * The maximum number of bytes of a message. The protocol's own parser takes a tenth of a second per megabyte of
 * arguments.
 */
export const BODY_BYTES = 128 * 1024;

/** The maximum number of values of a message, as counted by beyondJsonShape(). */
export const MOST_VALUES = { mostValues: 2_000, mostItems: 2_000 };
