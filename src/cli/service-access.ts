import { readCommandSecret, readServiceUrl } from '../config.ts'
import { parseUrl } from '../parse-url.ts'
import { basePathOf } from '../setting-values.ts'
import { UsageError, type Flags } from './command.ts'
import { askSecret } from './prompt.ts'
import { readSecretFile } from './secret-file.ts'

/** Options of commands that use the API of a service. */
export const SERVICE_FLAGS = {
  server: {
    value: 'URL',
    summary: 'URL of the service',
    defaultText: 'PORTREEVE_URL, or BASE_URL',
  },
  'api-token-file': {
    value: 'FILE',
    completes: 'file',
    summary: 'file with an API token',
    defaultText: 'PORTREEVE_TOKEN, or a prompt',
  },
} as const satisfies Flags

/** The URL of the service. @throws UsageError */
export function serverFrom(given: string | undefined): URL {
  return urlOf(given ?? readServiceUrl(), '--server')
}

/** The URL of a path of the service, whose own URL may have one. */
export function serviceUrl(server: URL, path: string): URL {
  return new URL(basePathOf(server.href) + path, server)
}

/** @throws UsageError for anything but an http or https URL */
export function urlOf(text: string, option: string): URL {
  const { url, problem } = parseUrl(text, ['http:', 'https:'])
  if (url === null) throw new UsageError(`${option} ${problem}.`)
  // The URL is printed, and the error of fetch would show the password.
  if (url.username || url.password)
    throw new UsageError(`${option} must not have a name or password in it.`)
  return url
}

/** The API token of a file, of the environment, or of a prompt. @throws UsageError without one */
export async function apiTokenFrom(file: string | undefined): Promise<string> {
  const given = file === undefined ? readCommandSecret('PORTREEVE_TOKEN') : readSecretFile(file)
  const token = (given ?? (await askSecret('API token')))?.trim()
  if (!token)
    throw new UsageError('API token missing. Set PORTREEVE_TOKEN or give --api-token-file.')
  return token
}
