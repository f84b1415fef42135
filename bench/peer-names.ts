/** Names the tools that quern is compared with. */

export const PEER_NAMES = ["rg", "csearch", "zoekt"] as const;
export type PeerName = (typeof PEER_NAMES)[number];
