/** Failures that a message names one by one. */
const MAX_LISTED = 5

/** Texts that no single module owns. */
export const messages = {
  /** The service cannot be reached at all. */
  unreachable: 'Can’t reach the server. Check your connection and try again.',
  unexpectedStatus: (status: number) => `The server returned an unexpected error (HTTP ${status}).`,
  /** Replaces the API’s message, which explains tokens to programs. */
  sessionExpired: 'Your session has expired. Sign in again.',
  wrongCredentials: 'Wrong email or password.',
  wrongCurrentPassword: 'The current password is wrong.',
  /** By the codes of the authentication library. */
  twoFactor: {
    INVALID_CODE: 'This code is wrong. Use the one the app shows now.',
    INVALID_BACKUP_CODE: 'This backup code is wrong or was used.',
    INVALID_TWO_FACTOR_COOKIE: 'The sign-in took too long. Start again with your password.',
    TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'Too many wrong codes. Start again with your password.',
    ACCOUNT_TEMPORARILY_LOCKED: 'Too many wrong codes. Try again in 15 minutes.',
  },
  undo: 'Undo',
  /** The deleted object is back in its list. */
  notDeleted: (reason: string) => `Not deleted. ${reason}`,
  /** Some of several deleted objects are back in their list. */
  someNotDeleted: (all: number, failures: { name: string; reason: string }[]) => {
    const listed = failures.slice(0, MAX_LISTED).map(({ name, reason }) => `${name}: ${reason}`)
    const rest = failures.length - listed.length
    const more = rest > 0 ? ` And ${rest} more.` : ''
    return `${failures.length} of ${all} could not be deleted: ${listed.join(' ')}${more}`
  },
  shortcutsOnThisScreen: 'On this screen',
} as const
