/**
 * Days after which a token can expire. In a file of its own, because the command line reads it at
 * every start, and the shapes load two large libraries.
 */
export const TOKEN_LIFETIMES = [30, 90, 365] as const
