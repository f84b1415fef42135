/** Of the interface that the routes keep. */
export const INTERFACE_VERSION = "v5.1.7";
