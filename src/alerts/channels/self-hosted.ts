/** Help of a field with the URL of a server that users may run themselves. */
export const PRIVATE_SERVER_HELP =
  'A server in a private network needs an entry in ALERT_PRIVATE_TARGETS or ALLOW_PRIVATE_TARGETS, which an administrator sets.'

/** A path below the URL of a server, which may have a path of its own. */
export function urlAt(server: string, path: string): string {
  return server.replace(/\/+$/, '') + path
}
