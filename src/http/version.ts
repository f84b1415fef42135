/** Of this package; a test holds it against package.json. */
export const VERSION = "0.1.0";

/** Of the interface that the routes keep. */
export const INTERFACE_VERSION = "v5.1.7";
