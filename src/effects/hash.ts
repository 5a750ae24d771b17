/** SHA-256 of a text, in hex. The module behind it is loaded at the first call: importing the package should be quick. */
export const hashOf = (text: string): string => process.getBuiltinModule("node:crypto").hash("sha256", text);
