/** The version of the specification that the routes implement. */
export const INTERFACE_VERSION = "v5.1.7";
