/** The tools that quern is measured beside. */

export const PEER_NAMES = ["rg", "csearch", "zoekt"] as const;
export type PeerName = (typeof PEER_NAMES)[number];
