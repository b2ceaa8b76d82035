import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/**
 * Names under which secrets travel, wherever in an object they stand (two levels are enough for
 * ours).
 */
const SECRET_NAMES = [
  'password',
  'accessToken',
  'token',
  'secret',
  'key',
  'authorization',
  'cookie',
  'set-cookie',
  'x-report-token',
  'x-api-key',
]

/**
 * One JSON line per event on standard output. Secrets are censored by name; URLs of users are never
 * logged whole.
 * @param level a pino level, or `silent`
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const paths = SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])
  return pino(
    {
      level,
      redact: { paths, censor: '[redacted]' },
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}
