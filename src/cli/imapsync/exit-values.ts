/** What can go wrong, with the exit code and its name. Control panels know both. */
export const EXIT_VALUES = {
  ok: [0, 'EX_OK: successful termination', ''],
  other: [1, 'EXIT_CATCH_ALL', 'ERR_UNCLASSIFIED'],
  signal: [6, 'EXIT_BY_SIGNAL', ''],
  pidFile: [8, 'EXIT_PID_FILE_ERROR', ''],
  tls: [12, 'EXIT_TLS_FAILURE', 'ERR_EXIT_TLS_FAILURE'],
  usage: [64, 'EX_USAGE: command line usage error', ''],
  connection1: [101, 'EXIT_CONNECTION_FAILURE_HOST1', 'ERR_CONNECTION_FAILURE_HOST1'],
  connection2: [102, 'EXIT_CONNECTION_FAILURE_HOST2', 'ERR_CONNECTION_FAILURE_HOST2'],
  withErrors: [111, 'EXIT_WITH_ERRORS', 'ERR_UNCLASSIFIED'],
  maxErrors: [112, 'EXIT_WITH_ERRORS_MAX', 'ERR_UNCLASSIFIED'],
  overQuota: [113, 'EXIT_OVERQUOTA', 'ERR_OVERQUOTA'],
  append: [114, 'EXIT_ERR_APPEND', 'ERR_APPEND'],
  fetch: [115, 'EXIT_ERR_FETCH', 'ERR_Host1_FETCH'],
  create: [116, 'EXIT_ERR_CREATE', 'ERR_CREATE'],
  select: [117, 'EXIT_ERR_SELECT', 'ERR_SELECT'],
  exceeded: [118, 'EXIT_TRANSFER_EXCEEDED', 'ERR_TRANSFER_EXCEEDED'],
  signIn1: [161, 'EXIT_AUTHENTICATION_FAILURE_USER1', 'ERR_AUTHENTICATION_FAILURE_USER1'],
  signIn2: [162, 'EXIT_AUTHENTICATION_FAILURE_USER2', 'ERR_AUTHENTICATION_FAILURE_USER2'],
} as const satisfies Record<string, readonly [code: number, name: string, error: string]>

export type Exit = keyof typeof EXIT_VALUES

/** Ends the run with an exit value and a sentence. */
export class ExitError extends Error {
  readonly exit: Exit

  constructor(exit: Exit, message: string, cause?: unknown) {
    super(message, { cause })
    this.exit = exit
  }
}

/** The exit of a failure’s code in reports of migrations (docs/migration-fidelity.md). */
const BY_CODE: Record<string, Exit> = {
  over_quota: 'overQuota',
  too_large: 'append',
  refused: 'append',
  unfetchable: 'fetch',
  folder_refused: 'create',
  no_such_mailbox: 'select',
  not_permitted: 'select',
}

/** The exit for failures: that of the most frequent one. */
export function exitOfFailures(codes: readonly string[]): Exit {
  const counts = new Map<Exit, number>()
  for (const code of codes) {
    const exit = BY_CODE[code] ?? 'withErrors'
    counts.set(exit, (counts.get(exit) ?? 0) + 1)
  }
  const [most] = [...counts].toSorted((a, b) => b[1] - a[1])
  return most?.[0] ?? 'withErrors'
}
