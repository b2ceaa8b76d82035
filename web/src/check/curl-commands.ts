import { serviceUrl } from '../base-path.ts'
/**
 * Formats a command that repeats a screen’s request to the API. Without a token, it reads one from
 * the environment.
 */
export function getCommand(path: string, token = '$PORTREEVE_TOKEN'): string {
  return `curl -H "Authorization: Bearer ${token}" "${serviceUrl()}${path}"`
}

/**
 * A command that sends this to the service, with a token from the environment; a line for each of
 * its parts.
 */
export function postCommand(path: string, body: object = {}): string {
  return [
    'curl -H "Authorization: Bearer $PORTREEVE_TOKEN"',
    '  -H "Content-Type: application/json"',
    `  -d '${JSON.stringify(body)}'`,
    `  "${serviceUrl()}${path}"`,
  ].join(' \\\n')
}
