/** Texts that no single module owns. */
export const messages = {
  /** The service cannot be reached at all. */
  unreachable: 'Can’t reach the server. Check your connection and try again.',
  unexpectedStatus: (status: number) => `The server returned an unexpected error (HTTP ${status}).`,
  /** Replaces the API’s message, which explains tokens to programs. */
  sessionExpired: 'Your session has expired. Sign in again.',
  wrongCredentials: 'Wrong email or password.',
  wrongCurrentPassword: 'The current password is wrong.',
  shortcutsOnThisScreen: 'On this screen',
} as const
