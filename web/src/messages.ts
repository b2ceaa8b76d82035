/** Texts that no single module owns. */
export const messages = {
  /** The service cannot be reached at all. */
  unreachable: 'Can’t reach the server. Check your connection and try again.',
  unexpectedStatus: (status: number) => `The server returned an unexpected error (HTTP ${status}).`,
  /** Shown in place of the API's own sentence, which tells programs how to send a token. */
  sessionExpired: 'Your session has expired. Sign in again.',
  wrongCredentials: 'Wrong email or password.',
  wrongCurrentPassword: 'The current password is wrong.',
  shortcutsOnThisScreen: 'On this screen',
} as const
