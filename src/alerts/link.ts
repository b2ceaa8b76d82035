/**
 * Where people see what an alert is about, and act on it.
 * @param path from the root of the dashboard; empty for an alert that was raised before alerts had one
 * @param baseUrl where people reach the service, without a slash at its end
 */
export function linkOf({ path }: { path: string }, baseUrl: string): string | null {
  return path === '' ? null : baseUrl + path
}
